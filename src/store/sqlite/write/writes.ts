/** How stores write: by the name of a job, with an input and a result that structured clone can carry. */
import type { CommitOptions } from './group-commit.ts'
import type { WriteInput, WriteJobs, WriteOutput } from './write-jobs.ts'

type WriteOptions = Pick<CommitOptions, 'isUnacknowledged'>

export interface Writes {
  /**
   * Runs a job of the registry in a transaction that it shares with others. Resolves after the commit is on the disk.
   *
   * @throws ApiError server_overloaded when too much waits; store_unavailable when the commit fails or the writer
   * dies, after which it may be stored; server_draining after close; and what the job throws
   */
  run<Name extends keyof WriteJobs>(
    name: Name,
    input: WriteInput<Name>,
    options?: WriteOptions,
  ): Promise<WriteOutput<Name>>
}
