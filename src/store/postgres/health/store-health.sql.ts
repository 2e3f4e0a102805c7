/** What tells whether PostgreSQL takes writes: a server that only reads, or whose disk is full, refuses it. */

/** A lock on a row is written; there is always one. */
export const PROVE_WRITABLE = `
SELECT version
FROM weft_migrations
WHERE version = 1
FOR UPDATE SKIP LOCKED
`
