/** Runs steps that SQLite shares with PostgreSQL: writes synchronously, reads of the main thread in slices. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Step, Steps } from '../../base/db/steps.ts'
import type { Connection } from './connection.ts'
import { orStoreError } from './store-error.ts'

/** Limit: time of one slice, after the statement that exceeds it. */
const SLICE_MS = 5

type Statement = ReturnType<Connection['prepare']>

/** Functions of one input that yield steps, as functions that run them. */
type Running<Written> = {
  readonly [Name in keyof Written]: Written[Name] extends (
    input: infer Input,
  ) => Steps<infer Output>
    ? (input: Input) => Output
    : never
}

/** @returns a function that runs the statement of a step */
function createStatementRunner(db: Connection): (step: Step) => unknown {
  const prepared = new Map<string, Statement>()
  return ({ sql, parameters: named, wants }) => {
    const parameters = toBindable(named)
    const statement = prepared.get(sql) ?? db.prepare(sql)
    prepared.set(sql, statement)
    if (wants === 'all') return statement.all(parameters)
    return wants === 'first' ? statement.get(parameters) : statement.run(parameters).changes
  }
}

/** @returns a function that runs steps on a connection, inside the caller's transaction if there is one */
export function createStepRunner(db: Connection): <T>(steps: Steps<T>) => T {
  const answer = createStatementRunner(db)
  return (steps) => {
    let step = steps.next()
    while (step.done !== true) step = steps.next(answer(step.value))
    return step.value
  }
}

/**
 * The same for reads outside of transactions. Between the steps of long ones, other requests run.
 *
 * @throws what toStoreError makes of the errors of statements
 */
export function createStepReader(db: Connection): <T>(steps: Steps<T>) => Promise<T> {
  const answer = createStatementRunner(db)
  return async (steps) => {
    let endMs = performance.now() + SLICE_MS
    let step = orStoreError(() => steps.next())
    while (step.done !== true) {
      if (performance.now() > endMs) {
        await nextTurn()
        endMs = performance.now() + SLICE_MS
      }
      const { value } = step
      step = orStoreError(() => steps.next(answer(value)))
    }
    return step.value
  }
}

/** Runs steps in a reader. Between two of them it pauses when others wait: `checkpoint` as in read-job.ts. */
export function* runPausing<T>(
  db: Connection,
  steps: Steps<T>,
  checkpoint: () => boolean,
): Generator<void, T> {
  const answer = createStatementRunner(db)
  let step = steps.next()
  while (step.done !== true) {
    if (checkpoint()) yield
    step = steps.next(answer(step.value))
  }
  return step.value
}

/** Returns the write jobs that run the steps of shared writes. */
export function toWriteJobs<Written extends Record<string, (input: never) => Steps<unknown>>>(
  db: Connection,
  writes: Written,
): Running<Written> {
  const run = createStepRunner(db)
  const jobs = Object.entries(writes).map(([name, write]) => [
    name,
    (input: never) => run(write(input)),
  ])
  return Object.fromEntries(jobs) as Running<Written>
}

/** Lists are JSON, as in the statements of `SQLITE`. */
function toBindable(parameters: Step['parameters']): Step['parameters'] {
  if (!Object.values(parameters).some(Array.isArray)) return parameters
  return Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => [
      name,
      Array.isArray(value) ? JSON.stringify(value) : value,
    ]),
  )
}
