/** Statements for API keys. */

/** Inserts a key. */
export const INSERT_KEY = `
INSERT INTO keys (id, hash, svc_user_id, svc_username, scopes_json, projects_json, created_at_us)
VALUES (@id, @hash, @svc_user_id, @svc_username, @scopes_json, @projects_json, @created_at_us)
`

/** One live key (unique index of hash). */
export const FIND_KEY = `
SELECT id, hash, svc_user_id, svc_username, scopes_json, projects_json, created_at_us, revoked_at_us
FROM keys
WHERE hash = @hash AND revoked_at_us IS NULL
`

/** One key, live or revoked, by primary key. */
export const FIND_KEY_BY_ID = `
SELECT id, svc_user_id, svc_username, scopes_json, projects_json, created_at_us, revoked_at_us
FROM keys
WHERE id = @id
`

/** The next keys after a cursor (keys_created_at_us). */
export const LIST_KEYS = `
SELECT id, svc_user_id, svc_username, scopes_json, projects_json, created_at_us, revoked_at_us
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
