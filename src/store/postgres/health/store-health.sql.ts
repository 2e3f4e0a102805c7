/** Checks whether PostgreSQL accepts writes: a read-only server, or one with a full disk, refuses this. */

/** A lock on a row is written; there is always one. */
export const PROVE_WRITABLE = `
SELECT version
FROM weft_migrations
WHERE version = 1
FOR UPDATE SKIP LOCKED
`
