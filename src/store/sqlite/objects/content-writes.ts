/** The writes of objects, tables and files. */
import { createObjectWrites } from '../../base/objects/object-writes.ts'
import { createTableWrites } from '../../base/objects/tables.ts'
import type { Connection } from '../db/connection.ts'
import { SQLITE } from '../db/dialect.sql.ts'
import { toWriteJobs } from '../db/run-steps.ts'
import { INSERT_FILE, OBJECTS } from './contents.sql.ts'

/** A row of `files`. */
interface NewFile {
  readonly project_id: string
  readonly digest: string
  readonly size_bytes: number
  readonly content: Uint8Array | null
  readonly path: string | null
}

export function createContentWrites(db: Connection) {
  const insertFile = db.prepare(INSERT_FILE)
  return {
    ...toWriteJobs(db, createObjectWrites(OBJECTS)),
    ...toWriteJobs(db, createTableWrites(SQLITE)),
    insert_file: (file: NewFile): void => void insertFile.run(file),
  }
}
