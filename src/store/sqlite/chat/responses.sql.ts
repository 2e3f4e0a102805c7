/** Statements over responses; all by primary key. */

export const INSERT_RESPONSE = `
INSERT INTO responses (
  id,
  project_id,
  key_id,
  created_at_us,
  previous_response_id,
  response_json,
  input_json
)
VALUES (
  @id,
  @project_id,
  @key_id,
  @created_at_us,
  @previous_response_id,
  @response_json,
  @input_json
)
`

export const FIND_RESPONSE = `
SELECT
  id,
  project_id,
  key_id,
  created_at_us,
  previous_response_id,
  response_json,
  input_json
FROM responses
WHERE id = @id
`

export const DELETE_RESPONSE = `
DELETE FROM responses
WHERE id = @id
`
