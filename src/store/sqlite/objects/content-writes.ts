/** The writes of objects, tables and files. */
import type { NewRow, StoredTable } from '../../api/objects/tables.ts'
import { createObjectWrites } from '../../base/objects/object-writes.ts'
import { INSERT_JSON_VALUE } from '../../base/objects/objects.sql.ts'
import { INSERT_TABLE, INSERT_TABLE_BLOCK } from '../../base/objects/tables.sql.ts'
import type { Connection } from '../db/connection.ts'
import { toWriteJobs } from '../db/run-steps.ts'
import { INSERT_FILE, OBJECTS } from './contents.sql.ts'

interface NewRows {
  readonly project_id: string
  readonly rows: readonly NewRow[]
}

interface NewTable extends Omit<StoredTable, 'table_key'> {
  /** From toBlock, in order. */
  readonly blocks: readonly Uint8Array[]
}

/** A row of `files`. */
interface NewFile {
  readonly project_id: string
  readonly digest: string
  readonly size_bytes: number
  readonly content: Uint8Array | null
  readonly path: string | null
}

export function createContentWrites(db: Connection) {
  const insertValue = db.prepare(INSERT_JSON_VALUE)
  const insertTable = db.prepare(INSERT_TABLE)
  const insertBlock = db.prepare(INSERT_TABLE_BLOCK)
  const insertFile = db.prepare(INSERT_FILE)
  return {
    ...toWriteJobs(db, createObjectWrites(OBJECTS)),
    insert_rows({ project_id, rows }: NewRows): void {
      for (const row of rows) insertValue.run({ project_id, ...row })
    },
    create_table({ blocks, ...table }: NewTable): void {
      const inserted = insertTable.get(table) as Pick<StoredTable, 'table_key'> | undefined
      if (inserted === undefined) return
      const { table_key } = inserted
      for (const [block, value_keys] of blocks.entries()) {
        insertBlock.run({ table_key, block, value_keys })
      }
    },
    insert_file: (file: NewFile): void => void insertFile.run(file),
  }
}
