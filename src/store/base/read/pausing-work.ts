/** Runs work that yields: other work comes in at each yield, and it stops when nobody waits for it any more. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type ReadCaller, requireWaiting } from '../../../domain/access/read-caller.ts'
import type { PausingWork } from '../../../domain/usage/usage-rollup.ts'

/** Runs it on the event loop. @throws as requireWaiting, and what the work throws */
export async function runInTurns<Value>(
  work: PausingWork<Value>,
  { signal }: Pick<ReadCaller, 'signal'>,
): Promise<Value> {
  for (let next = work.next(); ; next = work.next()) {
    if (next.done) return next.value
    await nextTurn()
    requireWaiting(signal)
  }
}

/** Runs it within the read job of a reader. @param checkpoint - of the job */
export function* runInSlices<Value>(
  work: PausingWork<Value>,
  checkpoint: () => boolean,
): PausingWork<Value> {
  for (let next = work.next(); ; next = work.next()) {
    if (next.done) return next.value
    if (checkpoint()) yield
  }
}
