/** Statements for preview models and their checkpoints that only PostgreSQL has. */
import { MODEL_COLUMN_LIST } from '../../base/models/preview-models.sql.ts'

/** Models, deleted or not; by primary key. */
export const FIND_MODELS = `
SELECT ${MODEL_COLUMN_LIST}
FROM preview_models
WHERE id = ANY (@ids::text[])
`

/** Models after a cursor, ascending or descending (preview_models_created_at_us). */
export const LIST_PREVIEW_MODELS = {
  asc: list('>', 'created_at_us, id'),
  desc: list('<', 'created_at_us DESC, id DESC'),
} as const

function list(sign: '<' | '>', order: string): string {
  return `
SELECT ${MODEL_COLUMN_LIST}
FROM preview_models
WHERE (created_at_us, id) ${sign} (@after_us, @after_id)
  AND deleted_at_us IS NULL
  AND (@name::text IS NULL OR name = @name::text)
ORDER BY ${order}
LIMIT @limit
`
}
