/** Statements over the applied migrations, and a lock on one that shows whether PostgreSQL accepts writes. */

/** Serializes processes that start simultaneously; the lock ends with the transaction. */
export const LOCK_MIGRATIONS = 'SELECT pg_advisory_xact_lock(8738001)'

/** How long a start waits for another's migrations. */
export const BOUND_LOCK_WAIT = "SET LOCAL lock_timeout = '10min'"

/** Created before anything else; its columns never change. */
export const CREATE_MIGRATIONS = `
CREATE TABLE IF NOT EXISTS weft_migrations (
  version integer NOT NULL PRIMARY KEY,
  name text NOT NULL,
  checksum text NOT NULL,
  applied_at_us bigint NOT NULL
)
`

/** The applied migrations, in order. */
export const SELECT_MIGRATIONS = `
SELECT version, name, checksum
FROM weft_migrations
ORDER BY version
`

/** Written in the transaction of the migration itself. */
export const INSERT_MIGRATION = `
INSERT INTO weft_migrations (version, name, checksum, applied_at_us)
VALUES (@version, @name, @checksum, @applied_at_us)
`

/** A lock on a row is written; there is always one. */
export const PROVE_WRITABLE = `
SELECT version
FROM weft_migrations
WHERE version = 1
FOR UPDATE SKIP LOCKED
`
