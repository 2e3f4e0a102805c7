/** Locks of changes of projects. A change of a retention waits for the steps that remove calls by the earlier one. */

const KEY = `hashtextextended('retention ' || @project_id, 0)`

/** Until the connection ends. Refused when a change waits already, so that steps cannot keep it waiting in turns. */
export const PIN_RETENTION = `SELECT pg_try_advisory_lock_shared(${KEY}) AS held`

/** Until the transaction ends. */
export const AWAIT_PINS = `SELECT pg_advisory_xact_lock(${KEY})`

/** Serializes changes of the prices of a project; the lock ends with the transaction. */
export const LOCK_PROJECT_PRICES = `
SELECT pg_advisory_xact_lock(hashtextextended('prices ' || @project_id, 0))
`
