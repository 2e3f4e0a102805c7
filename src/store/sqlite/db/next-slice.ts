/** Pauses in long reads on the main connection. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type ReadCaller, requireWaiting } from '../../../domain/access/read-caller.ts'
import { ApiError } from '../../../errors.ts'
import type { Connection } from './connection.ts'

/** Lets other requests run, and notices a client that has disconnected. @throws as requireWaiting, server_draining */
export async function openNextSlice(
  db: Connection,
  caller?: Pick<ReadCaller, 'signal'>,
): Promise<void> {
  await nextTurn()
  if (caller) requireWaiting(caller.signal)
  if (!db.open) throw new ApiError('server_draining')
}
