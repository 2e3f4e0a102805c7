/** Wraps stores of any kind to count their operations. */
import { type PackedOutcome, toPackedOutcome } from '../domain/calls/packed-calls.ts'
import type { CallStore } from '../store/api/calls/calls.ts'
import type { TrainingQueue } from '../store/api/training/training-queue.ts'

export interface StoreCounts {
  /** Parts of calls that were acknowledged, including repeats. */
  partsStored(part: 'start' | 'end', count: number): void
  /** A worker claimed a job. */
  jobClaimed(): void
  /** A worker ended its attempt at a job. Overdue attempts, which the server ends, do not count. */
  attemptEnded(end: AttemptEnd): void
}

type AttemptEnd = 'succeeded' | 'failed' | 'released'

export function countCalls(calls: CallStore, counts: StoreCounts): CallStore {
  function count({ starts, ends }: PackedOutcome): void {
    counts.partsStored('start', starts)
    counts.partsStored('end', ends)
  }

  return {
    ...calls,
    async startCall(start) {
      const ids = await calls.startCall(start)
      counts.partsStored('start', 1)
      return ids
    },
    async endCall(end) {
      await calls.endCall(end)
      counts.partsStored('end', 1)
    },
    async writeParts(parts) {
      const results = await calls.writeParts(parts)
      count(toPackedOutcome(parts, results))
      return results
    },
    async writePacked(packed, projects) {
      const outcome = await calls.writePacked(packed, projects)
      count(outcome)
      return outcome
    },
  }
}

export function countJobs(queue: TrainingQueue, counts: StoreCounts): TrainingQueue {
  return {
    ...queue,
    async claimJob(claim) {
      const claimed = await queue.claimJob(claim)
      if (claimed !== null) counts.jobClaimed()
      return claimed
    },
    async completeJob(lease, outcome) {
      const checkpoint = await queue.completeJob(lease, outcome)
      counts.attemptEnded('succeeded')
      return checkpoint
    },
    async failAttempt(lease, failure, end) {
      const job = await queue.failAttempt(lease, failure, end)
      counts.attemptEnded('failed')
      return job
    },
    async releaseJob(lease) {
      const job = await queue.releaseJob(lease)
      counts.attemptEnded('released')
      return job
    },
  }
}
