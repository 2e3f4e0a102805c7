/** Statements for tickets of exports. There are few: only the primary key is indexed. */
import { insertNamed } from '../db/rows.sql.ts'

const COLUMNS = ['token_hash', 'key_id', 'ticket_json', 'expires_at_us']

export const INSERT_TICKET = insertNamed('export_tickets', COLUMNS)

export const DELETE_EXPIRED = `
DELETE FROM export_tickets
WHERE expires_at_us <= @now_us
`

/** Leaves the newest of a key. */
export const DELETE_OLDEST_OF_KEY = `
DELETE FROM export_tickets
WHERE key_id = @key_id AND token_hash NOT IN (
  SELECT token_hash
  FROM export_tickets
  WHERE key_id = @key_id
  ORDER BY expires_at_us DESC, token_hash
  LIMIT @limit
)
`

/** Those of exports. */
export const COUNT_TICKETS = `
SELECT count(*) AS count
FROM export_tickets
WHERE key_id NOT LIKE @pattern
`

export const COUNT_MEDIA_TICKETS = `
SELECT count(*) AS count
FROM export_tickets
WHERE key_id LIKE @pattern
`

/** By primary key. */
export const FIND_TICKET = `
SELECT ${COLUMNS.join(', ')}
FROM export_tickets
WHERE token_hash = @token_hash AND expires_at_us > @now_us
`

/** By primary key. */
export const DELETE_TICKET = `
DELETE FROM export_tickets
WHERE token_hash = @token_hash
RETURNING ${COLUMNS.join(', ')}
`
