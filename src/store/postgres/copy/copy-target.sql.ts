/** Statements of a copy. */
import type { CopiedTable } from '../../api/copy.ts'
import { insertRows } from '../db/dialect.sql.ts'

/** How long a copy waits for statements that write, and for another copy. */
export const BOUND_LOCK_WAIT = "SET LOCAL lock_timeout = '5s'"

/** Blocks writes to the tables, and other copies, until the transaction ends. */
export function lockTables(tables: readonly CopiedTable[]): string {
  return `LOCK TABLE ${tables.map(({ name }) => name).join(', ')} IN EXCLUSIVE MODE`
}

/** Jobs and checkpoints refer to each other: during the copy one side may be missing. */
export const DROP_REFERENCES = `
ALTER TABLE training_jobs
DROP CONSTRAINT training_jobs_parent_checkpoint_id_fkey,
DROP CONSTRAINT training_jobs_result_checkpoint_id_fkey
`

/** Restores the constraints of the migration, with its names. */
export const ADD_REFERENCES = `
ALTER TABLE training_jobs
ADD FOREIGN KEY (parent_checkpoint_id) REFERENCES checkpoints (id),
ADD FOREIGN KEY (result_checkpoint_id) REFERENCES checkpoints (id)
`

/** INSERT of rows with their original keys. */
export function insertCopies({ name }: CopiedTable, columns: readonly string[]): string {
  return insertRows(name, columns).replace('\nSELECT', '\nOVERRIDING SYSTEM VALUE\nSELECT')
}

export function listRows({ name }: CopiedTable, columns: readonly string[]): string {
  return `
SELECT ${columns.join(', ')}
FROM ${name}
`
}

/** Whether a table has any row. */
export function findAny({ name }: CopiedTable): string {
  return `
SELECT EXISTS (SELECT 1 FROM ${name}) AS is_filled
`
}

/** Columns with sequences. */
export const LIST_NUMBERED = `
SELECT relname AS name, attname AS column
FROM pg_attribute
JOIN pg_class ON pg_class.oid = attrelid
WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND attidentity <> ''
`

/** Sets the next number after all existing ones. */
export function setNextNumber(name: string, column: string): string {
  return `
SELECT setval(pg_get_serial_sequence('${name}', '${column}'), max(${column}))
FROM ${name}
`
}
