/** Statements for preview models. */
import { MODEL_COLUMN_LIST } from '../../base/models/preview-models.sql.ts'

/** Models after a cursor, ascending (preview_models_created_at_us). */
export const LIST_PREVIEW_MODELS_ASC = `
SELECT ${MODEL_COLUMN_LIST}
FROM preview_models
WHERE (created_at_us, id) > (@after_us, @after_id)
  AND deleted_at_us IS NULL
ORDER BY created_at_us, id
`

/** Models of one name behind a place, upwards (preview_models_name_created_at_us). */
export const LIST_NAMED_MODELS_ASC = `
SELECT ${MODEL_COLUMN_LIST}
FROM preview_models
WHERE name = @name AND (created_at_us, id) > (@after_us, @after_id) AND deleted_at_us IS NULL
ORDER BY created_at_us, id
`

/** Models after a cursor, descending (preview_models_created_at_us). */
export const LIST_PREVIEW_MODELS_DESC = `
SELECT ${MODEL_COLUMN_LIST}
FROM preview_models
WHERE (created_at_us, id) < (@after_us, @after_id)
  AND deleted_at_us IS NULL
ORDER BY created_at_us DESC, id DESC
`

/** Models of one name behind a place, downwards (preview_models_name_created_at_us). */
export const LIST_NAMED_MODELS_DESC = `
SELECT ${MODEL_COLUMN_LIST}
FROM preview_models
WHERE name = @name AND (created_at_us, id) < (@after_us, @after_id) AND deleted_at_us IS NULL
ORDER BY created_at_us DESC, id DESC
`
