/** Statements for requests to cancel responses. There are few: only the primary key is indexed. */

export const DELETE_LEFT_BEHIND = `
DELETE FROM response_cancels
WHERE requested_at_us <= @before_us
`

export const INSERT_CANCEL = `
INSERT INTO response_cancels (id, response_id, caller_json, requested_at_us)
VALUES (@id, @response_id, @caller_json, @now_us)
`

export const SELECT_REQUESTED = `
SELECT id, response_id, caller_json
FROM response_cancels
WHERE response_json IS NULL
LIMIT @limit
`

export const FULFIL = `
UPDATE response_cancels
SET response_json = @response_json
WHERE id = @id
`

export const FIND_CANCELLED = `
SELECT response_json
FROM response_cancels
WHERE id = @id
`

export const DELETE_CANCEL = `
DELETE FROM response_cancels
WHERE id = @id
`
