/**
 * Work that SQLite and PostgreSQL share: a generator that yields statements and is given their results. SQLite runs them
 * at once, in its writer (sqlite/db/run-steps.ts); PostgreSQL waits for each (postgres/db/run-steps.ts).
 */

/** A statement that runs on both. */
export interface Step {
  readonly sql: string
  /** By name. */
  readonly parameters: Readonly<Record<string, unknown>>
  readonly wants: 'all' | 'first' | 'count'
}

/** A failed statement ends them: they cannot catch its error. */
export type Steps<T> = Generator<Step, T, unknown>

type InputOf<Work> = Work extends (input: infer Input) => Steps<unknown> ? Input : never
type OutputOf<Work> = Work extends (input: never) => Steps<infer Output> ? Output : never

/** How a store runs shared reads, and shared writes of a name, each a function of one input. */
export interface StepRuns<Writes> {
  /** Runs a read. Its statements may see different states. */
  read<T>(steps: Steps<T>): Promise<T>
  /** Runs a write by its name, as one transaction. Resolves when it is durable. */
  write<Name extends keyof Writes>(
    name: Name,
    input: InputOf<Writes[Name]>,
  ): Promise<OutputOf<Writes[Name]>>
}

/** Returns all rows of a statement. */
export function* all<Row>(sql: string, parameters: object): Steps<Row[]> {
  return (yield { sql, parameters: { ...parameters }, wants: 'all' }) as Row[]
}

/** Returns its first row, or undefined. */
export function* first<Row>(sql: string, parameters: object): Steps<Row | undefined> {
  return (yield { sql, parameters: { ...parameters }, wants: 'first' }) as Row | undefined
}

/** Returns the `count` of its only row. */
export function* count(sql: string, parameters: object): Steps<number> {
  return (yield* first<{ count: number }>(sql, parameters))?.count ?? 0
}

/** Returns the number of changed rows. */
export function* run(sql: string, parameters: object): Steps<number> {
  return (yield { sql, parameters: { ...parameters }, wants: 'count' }) as number
}
