/** Statements of a copy: it is written to a separate schema, whose tables then replace the empty ones. */
import type { CopiedTable } from '../../api/copy.ts'
import { insertRows } from '../db/rows.sql.ts'

/** Schema of the copy until it is complete. */
export const COPY_SCHEMA = 'weft_copy'

/** One copy at a time; the lock ends with the connection. */
export const LOCK_COPY = 'SELECT pg_advisory_lock(8738003)'

/** How long a copy waits for another: the connection of a killed one stays until its last statement ends. */
export const BOUND_COPY_WAIT = "SET LOCAL lock_timeout = '5s'"

/** The schema of the tables that servers use, quoted for statements. */
export const FIND_SERVED_SCHEMA = 'SELECT quote_ident(current_schema()) AS name'

/** The name of the copy's schema if it exists, or null. */
export const FIND_COPY = `SELECT to_regnamespace('${COPY_SCHEMA}')::text AS name`

export const CREATE_COPY = `CREATE SCHEMA ${COPY_SCHEMA}`

export const DROP_COPY = `DROP SCHEMA ${COPY_SCHEMA} CASCADE`

/** Makes names of tables refer to the copy. */
export const USE_COPY = `SET search_path TO ${COPY_SCHEMA}`

/** The progress of the copy by table. */
export const CREATE_PLACES = `
CREATE TABLE IF NOT EXISTS copy_places (
  name text NOT NULL PRIMARY KEY,
  place_json text NOT NULL
)
`

export const FIND_PLACE = `
SELECT place_json
FROM copy_places
WHERE name = @name
`

export const SET_PLACE = `
INSERT INTO copy_places (name, place_json)
VALUES (@name, @place_json)
ON CONFLICT (name) DO UPDATE SET place_json = excluded.place_json
`

/** Jobs and checkpoints refer to each other: during the copy one side may be missing. */
export const DROP_REFERENCES = `
ALTER TABLE training_jobs
DROP CONSTRAINT IF EXISTS training_jobs_parent_checkpoint_id_fkey,
DROP CONSTRAINT IF EXISTS training_jobs_result_checkpoint_id_fkey
`

/** Restores the constraints of the migration. */
export const ADD_REFERENCES = `
ALTER TABLE training_jobs
ADD FOREIGN KEY (parent_checkpoint_id) REFERENCES checkpoints (id),
ADD FOREIGN KEY (result_checkpoint_id) REFERENCES checkpoints (id)
`

/** INSERT of rows with their original keys. */
export function insertCopies({ name }: CopiedTable, columns: readonly string[]): string {
  return insertRows(name, columns).replace('\nSELECT', '\nOVERRIDING SYSTEM VALUE\nSELECT')
}

export function listRows(schema: string, name: string, columns: readonly string[]): string {
  return `
SELECT ${columns.join(', ')}
FROM ${schema}.${name}
`
}

/** Whether a table has any row. */
export function findAny(schema: string, { name }: CopiedTable): string {
  return `
SELECT EXISTS (SELECT 1 FROM ${schema}.${name}) AS is_filled
`
}

/** Blocks reads and writes of the tables until the transaction ends. */
export function lockTables(schema: string, tables: readonly CopiedTable[]): string {
  const names = tables.map(({ name }) => `${schema}.${name}`)
  return `LOCK TABLE ${names.join(', ')} IN ACCESS EXCLUSIVE MODE`
}

/** How long the copy waits for servers. */
export const BOUND_LOCK_WAIT = "SET LOCAL lock_timeout = '30s'"

export function dropTables(schema: string, tables: readonly CopiedTable[]): string {
  return `DROP TABLE ${tables.map(({ name }) => `${schema}.${name}`).join(', ')}`
}

export function moveTable(schema: string, { name }: CopiedTable): string {
  return `ALTER TABLE ${COPY_SCHEMA}.${name} SET SCHEMA ${schema}`
}

/** Columns of the copy with sequences. */
export const LIST_NUMBERED = `
SELECT relname AS name, attname AS column
FROM pg_attribute
JOIN pg_class ON pg_class.oid = attrelid
WHERE relnamespace = '${COPY_SCHEMA}'::regnamespace AND attidentity <> ''
`

/** Sets the next number after all existing ones. */
export function setNextNumber(name: string, column: string): string {
  return `
SELECT setval(pg_get_serial_sequence('${COPY_SCHEMA}.${name}', '${column}'), max(${column}))
FROM ${COPY_SCHEMA}.${name}
`
}

/** Drops the empty schema; a table that was not moved prevents it. */
export const DROP_LEFT = `
DROP TABLE ${COPY_SCHEMA}.copy_places, ${COPY_SCHEMA}.weft_migrations;
DROP SCHEMA ${COPY_SCHEMA}
`
