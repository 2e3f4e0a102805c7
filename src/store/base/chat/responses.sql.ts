/** Statements for responses; all by primary key. */
import { insertNamed } from '../db/rows.sql.ts'

const COLUMNS = [
  'id',
  'project_id',
  'key_id',
  'created_at_us',
  'previous_response_id',
  'response_json',
  'input_json',
]

export const INSERT_RESPONSE = insertNamed('responses', COLUMNS)

export const FIND_RESPONSE = `
SELECT
  ${COLUMNS.join(',\n  ')}
FROM responses
WHERE id = @id
`

export const DELETE_RESPONSE = `
DELETE FROM responses
WHERE id = @id
`
