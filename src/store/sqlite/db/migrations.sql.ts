/** Statements for the migration table and the schema itself. */

/** Created before anything else; its own schema never changes. */
export const CREATE_MIGRATIONS = `
CREATE TABLE IF NOT EXISTS migrations (
  version INTEGER NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  checksum TEXT NOT NULL,
  applied_at_us INTEGER NOT NULL
) STRICT
`

/** The applied migrations, in order. */
export const SELECT_MIGRATIONS = `
SELECT version, name, checksum
FROM migrations
ORDER BY version
`

/** Written in the transaction of the migration itself. */
export const INSERT_MIGRATION = `
INSERT INTO migrations (version, name, checksum, applied_at_us)
VALUES (@version, @name, @checksum, @applied_at_us)
`

/** The tables of a database that has some, but no migrations of Weft. */
export const SELECT_FOREIGN_TABLES = `
SELECT name
FROM sqlite_schema
WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
  AND NOT EXISTS (SELECT 1 FROM pragma_table_info('migrations') WHERE name = 'checksum')
ORDER BY name
`

/** Every table, index and trigger that has SQL of its own. */
export const SELECT_SCHEMA = `
SELECT sql
FROM sqlite_schema
WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'
ORDER BY tbl_name, type DESC, name
`
