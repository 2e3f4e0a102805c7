/** Statements for the prices of projects that only PostgreSQL has. */

/** Serializes changes of the prices of a project; the lock ends with the transaction. */
export const LOCK_PROJECT_PRICES = `
SELECT pg_advisory_xact_lock(hashtextextended('prices ' || @project_id, 0))
`
