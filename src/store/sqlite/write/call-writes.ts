/**
 * Where calls are written: on the main connection at first, in a thread once there are many, so that who
 * writes little has no thread for it. A process goes from one to the other and never back.
 */
import type { GroupCommit } from './group-commit.ts'
import type { CallWrites, WriteJobs, WriteOutput } from './write-jobs.ts'
import type { WriteThread } from './write-thread.ts'

/** Writes from which on a thread is worth it. */
export const WRITES_BEFORE_THREAD = 256

export interface CallWritesOptions {
  /** Of the main connection. */
  readonly commit: GroupCommit
  readonly jobs: WriteJobs
  /** null for a database that no other connection can open. */
  readonly thread: WriteThread | null
  readonly writesBeforeThread: number
}

export function createCallWrites(options: CallWritesOptions): CallWrites {
  const { commit, jobs, thread, writesBeforeThread } = options
  let count = 0
  return {
    run(name, input, writeOptions) {
      if (thread && count >= writesBeforeThread) return thread.run(name, input, writeOptions)
      count += 1
      const job = jobs[name] as (input: unknown) => WriteOutput<typeof name>
      return commit.write(() => job(input), writeOptions)
    },
  }
}
