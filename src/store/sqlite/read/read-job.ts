/** The type of heavy reads: code that a reader runs by name. */
import type { Connection } from '../db/connection.ts'

/**
 * Must be called for about every row. Returns true when others wait for their turn: a job that can pause then closes
 * its statements and yields, any other continues.
 *
 * @throws when nobody waits for the job any more
 */
export type Checkpoint = () => boolean

/**
 * One heavy read. A function runs in one read transaction. A generator has one for each part between two yields,
 * so it must hold no row or iterator of the database across a yield, and continues after the last row it has read.
 *
 * @param db - for its statements; the job must not write
 * @param input - must survive structured clone
 * @returns a value that survives structured clone
 */
export type ReadJob<Input, Output> = (
  db: Connection,
  input: Input,
  checkpoint: Checkpoint,
) => Output | Generator<void, Output>

/** Jobs by name, with any inputs. */
export type ReadJobs = Readonly<Record<string, ReadJob<never, unknown>>>

export type ReadInput<Jobs extends ReadJobs, Name extends keyof Jobs> = Parameters<Jobs[Name]>[1]
export type ReadOutput<Jobs extends ReadJobs, Name extends keyof Jobs> = Ended<
  ReturnType<Jobs[Name]>
>
/** The final value of a job, whether it can pause or not. */
type Ended<Result> = Exclude<Result, Generator> | GeneratorValue<Extract<Result, Generator>>
type GeneratorValue<Result> = Result extends Generator<unknown, infer Value> ? Value : never
