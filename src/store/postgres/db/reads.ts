/** Reads that may scan many rows: scheduled in turns, split into short statements, with a time limit. */
import { type ReadCaller, requireWaiting } from '../../../domain/access/read-caller.ts'
import { ApiError } from '../../../errors.ts'
import { createTurns, type TurnLimits } from '../../../threads/turns.ts'
import type { ReadMetrics } from '../../api/metrics.ts'

/** To be called between statements. @throws ApiError read_timeout, client_closed_request or the signal's reason */
export type Checkpoint = () => void

export interface Reads {
  /** Runs a read when it is its turn. @throws ApiError as the checkpoint, and server_overloaded */
  run<T>(caller: ReadCaller, read: (checkpoint: Checkpoint) => Promise<T>): Promise<T>
  figures(): ReadMetrics
}

/** `waitMsMax` bounds a read as it bounds its wait. */
export type ReadLimits = Required<TurnLimits>

export function createReads(limits: ReadLimits): Reads {
  const turns = createTurns(limits)
  return {
    async run(caller, read) {
      const { signal } = caller
      requireWaiting(signal)
      const leave = await turns.enter(caller)
      const endMs = performance.now() + limits.waitMsMax
      try {
        return await read(() => {
          requireWaiting(signal)
          if (performance.now() > endMs) throw new ApiError('read_timeout')
        })
      } finally {
        leave()
      }
    },
    figures: () => ({ kind: 'postgres', ...turns.figures() }),
  }
}
