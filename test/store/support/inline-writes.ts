/** Writes on a connection of the test's own. */
import type { Connection } from '../../../src/store/sqlite/db/connection.ts'
import {
  createWriter,
  openInlineWrites,
  type Writer,
} from '../../../src/store/sqlite/write/writer.ts'

export function createInlineWrites(db: Connection): Writer {
  return createWriter({
    queueMax: 1000,
    queueBytesMax: 64 * 1024 * 1024,
    closeMs: 1000,
    open: (events) => openInlineWrites(db, events),
  })
}
