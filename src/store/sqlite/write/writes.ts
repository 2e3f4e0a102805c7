/** How stores write: by the name of a job, with an input and a result that survive structured clone. */
import type { CommitOptions } from './group-commit.ts'
import type { WriteInput, WriteJobs, WriteOutput } from './write-jobs.ts'

type WriteOptions = Pick<CommitOptions, 'isUnacknowledged'>

export interface Writes {
  /**
   * Runs a job of the registry in a shared transaction. Resolves when the commit is on the disk.
   *
   * @throws ApiError server_overloaded when too much waits; store_unavailable when the commit fails or the writer
   * dies, in which case the write may still be stored; server_draining after close; and what the job throws
   */
  run<Name extends keyof WriteJobs>(
    name: Name,
    input: WriteInput<Name>,
    options?: WriteOptions,
  ): Promise<WriteOutput<Name>>
}
