/** What a heavy read is: code that a reader runs by its name. */
import type { Connection } from '../db/connection.ts'

/**
 * To be called for every row or so. True when others wait for their turn: a job that can pause then closes what it
 * reads and yields, any other goes on.
 *
 * @throws when nobody waits any more
 */
export type Checkpoint = () => boolean

/**
 * One heavy read. A function runs in one read transaction. A generator has one for each part between two yields,
 * so it must not hold a row or an iterator of the database over a yield, and it begins again behind the last row.
 *
 * @param db - prepares its statements on it; it must not write
 * @param input - what structured clone can carry
 * @returns what structured clone can carry
 */
export type ReadJob<Input, Output> = (
  db: Connection,
  input: Input,
  checkpoint: Checkpoint,
) => Output | Generator<void, Output>

/** Jobs by name, whatever their inputs are. */
export type ReadJobs = Readonly<Record<string, ReadJob<never, unknown>>>

export type ReadInput<Jobs extends ReadJobs, Name extends keyof Jobs> = Parameters<Jobs[Name]>[1]
export type ReadOutput<Jobs extends ReadJobs, Name extends keyof Jobs> = Ended<
  ReturnType<Jobs[Name]>
>
/** Of a job that can pause, what it gives in the end. */
type Ended<Result> = Exclude<Result, Generator> | GeneratorValue<Extract<Result, Generator>>
type GeneratorValue<Result> = Result extends Generator<unknown, infer Value> ? Value : never
