/** Writes what stands in a ring of recorded calls, in the thread that calls are written in. */

import { type Failure, renderFailure } from '../db/thread-failure.ts'
import type { GroupCommit } from '../write/group-commit.ts'
import type { WriteJobs } from '../write/write-jobs.ts'
import { openRingReader, type RingBatch } from './record-ring.ts'

/** Limits of one commit: some 20 ms of work, for which other writes wait. */
const CALLS_MAX = 768
const BYTES_MAX = 1536 * 1024

/** Calls that were not stored, and why. */
export interface LostRecords extends Failure {
  readonly count: number
}

export interface RecordServerOptions {
  readonly ring: SharedArrayBuffer
  readonly commit: GroupCommit
  readonly jobs: WriteJobs
  /** Called after each commit, when the room in the ring is free again. */
  onWritten(lost: readonly LostRecords[]): void
}

export interface RecordServer {
  /** Writes until the ring is empty. */
  drain(): Promise<void>
  /** Hands all that is left to the group commit, which is then to be closed. */
  finish(): void
}

export function createRecordServer(options: RecordServerOptions): RecordServer {
  const { ring, commit, jobs, onWritten } = options
  const reader = openRingReader(ring)
  let isDraining = false

  const take = () => reader.take(CALLS_MAX, BYTES_MAX)

  async function write(batch: RingBatch): Promise<void> {
    const { calls } = batch
    const lost = await commit
      .write(() => jobs.record_bytes(calls), { isUnacknowledged: true })
      .then(
        (refused) => refused.map((failure) => ({ count: 1, ...failure })),
        (error) => [{ count: calls.length, ...renderFailure(error) }],
      )
    reader.release(batch)
    onWritten(lost)
  }

  return {
    async drain() {
      if (isDraining) return
      isDraining = true
      for (let batch = take(); batch.calls.length > 0; batch = take()) await write(batch)
      isDraining = false
    },
    finish() {
      for (let batch = take(); batch.calls.length > 0; batch = take()) void write(batch)
    },
  }
}
