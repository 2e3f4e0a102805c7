/** Statements for cached completions. */
import { insertNamed } from '../db/rows.sql.ts'

/** By primary key. */
export const FIND_COMPLETION = `
SELECT
  created_at_us,
  response_json
FROM cached_completions
WHERE digest = @digest AND expires_at_us > @now_us
`

export const INSERT_COMPLETION = insertNamed('cached_completions', [
  'digest',
  'created_at_us',
  'expires_at_us',
  'bytes',
  'response_json',
])

/** By primary key, as the next. */
export const FIND_COMPLETION_BYTES = `
SELECT
  digest,
  bytes
FROM cached_completions
WHERE digest = @digest
`

export const DELETE_COMPLETION = `
DELETE FROM cached_completions
WHERE digest = @digest
`

/** By the index of ends. */
export const LIST_EXPIRED = `
SELECT
  digest,
  bytes
FROM cached_completions
WHERE expires_at_us <= @now_us
ORDER BY expires_at_us
LIMIT @limit
`

/** By the index of creations. */
export const LIST_OLDEST = `
SELECT
  digest,
  bytes
FROM cached_completions
ORDER BY created_at_us, digest
LIMIT @limit
`

/** The sum, which no other transaction may change before this one ends. */
export function lockTotal(forUpdate: string): string {
  return `
SELECT bytes
FROM cached_completion_totals
WHERE id = 1
${forUpdate}
`
}

/** For a database without the row of the sum. */
export const SUM_BYTES =
  'SELECT CAST(coalesce(sum(bytes), 0) AS bigint) AS bytes FROM cached_completions'

export const SET_TOTAL = `
INSERT INTO cached_completion_totals (id, bytes)
VALUES (1, @bytes)
ON CONFLICT (id) DO UPDATE SET bytes = excluded.bytes
`
