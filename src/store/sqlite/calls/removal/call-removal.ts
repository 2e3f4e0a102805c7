/** Removes calls from the disk, step by step, by writes of the one writer. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { CallRemoval, ExpiryStep } from '../../../api/calls/calls.ts'
import { HOUR_US } from '../../stats/segments/hour-columns.ts'
import type { Writes } from '../../write/writes.ts'

/** The rest after a step, as a multiple of its duration: two thirds of the time belong to others. */
const REST_TIMES = 2
/** A step that is lost in a power failure is repeated. */
const UNACKNOWLEDGED = { isUnacknowledged: true }

export function createCallRemoval(writes: Writes): CallRemoval {
  const giveBackRoom = () => writes.run('give_back_room', null, UNACKNOWLEDGED)

  return {
    async removeDeleted(signal) {
      const step = () => writes.run('free_deleted', null, UNACKNOWLEDGED)
      const calls = await repeat(step, signal)
      await repeat(giveBackRoom, signal)
      return calls
    },
    async expireCalls({ project_id, before_us }, signal) {
      if (signal.aborted) return { calls: 0, isDone: false }
      const bound = { project_id, before_us: Math.floor(before_us / HOUR_US) * HOUR_US }
      const startedMs = performance.now()
      const done = await writes.run('expire_calls', bound, UNACKNOWLEDGED)
      if (done.isDone) await repeat(giveBackRoom, signal)
      else await restSince(startedMs, signal)
      return done
    },
  }
}

/** Repeats a step until nothing is left. @returns the number of calls of all steps */
async function repeat(step: () => Promise<ExpiryStep>, signal: AbortSignal): Promise<number> {
  let calls = 0
  while (!signal.aborted) {
    const startedMs = performance.now()
    const done = await step()
    calls += done.calls
    if (done.isDone) break
    await restSince(startedMs, signal)
  }
  return calls
}

async function restSince(startedMs: number, signal: AbortSignal): Promise<void> {
  const restMs = (performance.now() - startedMs) * REST_TIMES
  await sleep(restMs, null, { ref: false, signal }).catch(() => null)
}
