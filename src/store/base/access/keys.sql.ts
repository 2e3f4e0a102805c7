/** Statements for API keys. */
import { insertNamed } from '../db/rows.sql.ts'

/** What can be edited. */
const EDITED_COLUMNS = [
  'name',
  'svc_username',
  'scopes_json',
  'projects_json',
  'models_json',
  'expires_at_us',
  'requests_per_minute',
  'tokens_per_minute',
  'parallel_requests',
]

/** All but the hashes of the secrets. */
const SHOWN_COLUMNS = [
  'id',
  'svc_user_id',
  'created_at_us',
  'revoked_at_us',
  'last_used_day',
  'previous_expires_at_us',
  ...EDITED_COLUMNS,
].join(', ')

export const INSERT_KEY = insertNamed('keys', [
  'id',
  'hash',
  'svc_user_id',
  'created_at_us',
  ...EDITED_COLUMNS,
])

/** One live key by its secret, or by the one before (unique indexes of both hashes). */
export const FIND_KEY = `
SELECT hash, previous_hash, ${SHOWN_COLUMNS}
FROM keys
WHERE
  (hash = @hash OR (previous_hash = @hash AND previous_expires_at_us > @now_us))
  AND revoked_at_us IS NULL
  AND (expires_at_us IS NULL OR expires_at_us > @now_us)
`

/** Whether a secret has expired, with its key or after a rotation (unique indexes of both hashes). */
export const FIND_EXPIRED_KEY = `
SELECT id
FROM keys
WHERE
  revoked_at_us IS NULL
  AND (
    (hash = @hash AND expires_at_us <= @now_us)
    OR (previous_hash = @hash AND (previous_expires_at_us <= @now_us OR expires_at_us <= @now_us))
  )
`

/** One key, live or revoked, by primary key. */
export const FIND_KEY_BY_ID = `
SELECT ${SHOWN_COLUMNS}
FROM keys
WHERE id = @id
`

/** The next keys after a cursor (keys_created_at_us). */
export const LIST_KEYS = `
SELECT ${SHOWN_COLUMNS}
FROM keys
WHERE (created_at_us, id) > (@after_us, @after_id)
ORDER BY created_at_us, id
LIMIT @limit
`

/** By primary key. */
export const REVOKE_KEY = `
UPDATE keys
SET revoked_at_us = @revoked_at_us
WHERE id = @id AND revoked_at_us IS NULL
`

/** Sets all that can be edited of a live key, by primary key. */
export const UPDATE_KEY = `
UPDATE keys
SET ${EDITED_COLUMNS.map((column) => `${column} = @${column}`).join(', ')}
WHERE id = @id AND revoked_at_us IS NULL
`

/** Gives a live key another secret; its last one is accepted until a time. By primary key. */
export const ROTATE_KEY = `
UPDATE keys
SET previous_hash = hash, previous_expires_at_us = @previous_expires_at_us, hash = @hash
WHERE id = @id AND revoked_at_us IS NULL
`

/** By primary key. */
export const TOUCH_KEY = `
UPDATE keys
SET last_used_day = @day
WHERE id = @id AND (last_used_day IS NULL OR last_used_day < @day)
`
