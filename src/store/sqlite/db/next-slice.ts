/** Pauses in long reads on the main connection. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type ReadCaller, requireWaiting } from '../../../domain/access/read-caller.ts'

/** Lets other requests run, and notices a client that has disconnected. @throws as requireWaiting */
export async function openNextSlice({ signal }: Pick<ReadCaller, 'signal'>): Promise<void> {
  await nextTurn()
  requireWaiting(signal)
}
