/** Statements for preview models that run on SQLite and PostgreSQL alike. */
import { cursorCondition } from '../db/rows.sql.ts'

/**
 * Inserts a model whose name is new in its project; does nothing otherwise (preview_models_entity_project_name).
 * Its steps continue after those of deleted models with this name (preview_models_past_names).
 */
export const INSERT_PREVIEW_MODEL = `
INSERT INTO preview_models (
  id,
  entity,
  project,
  name,
  base_model,
  created_at_us,
  created_by,
  last_step
)
VALUES (
  @id,
  @entity,
  @project,
  @name,
  @base_model,
  @created_at_us,
  @created_by,
  (
    SELECT coalesce(max(last_step), 0)
    FROM preview_models
    WHERE entity = @entity AND project = @project AND name = @name AND deleted_at_us IS NOT NULL
  )
)
ON CONFLICT (entity, project, name) WHERE deleted_at_us IS NULL DO NOTHING
`

export const MODEL_COLUMN_LIST = `
  id,
  entity,
  project,
  name,
  base_model,
  created_at_us,
  created_by
`

/** One model by its name in a project (preview_models_entity_project_name). */
export const FIND_PREVIEW_MODEL_BY_NAME = `
SELECT ${MODEL_COLUMN_LIST}
FROM preview_models
WHERE entity = @entity AND project = @project AND name = @name AND deleted_at_us IS NULL
`

/** One model that is not deleted; by primary key. */
export const FIND_PREVIEW_MODEL = `
SELECT ${MODEL_COLUMN_LIST}
FROM preview_models
WHERE id = @id AND deleted_at_us IS NULL
`

/** A model, deleted or not, for the cursor of a list or for a job; by primary key. */
export const FIND_ANY_PREVIEW_MODEL = `
SELECT ${MODEL_COLUMN_LIST}
FROM preview_models
WHERE id = @id
`

/** Models after a cursor; those of a name (preview_models_created_at_us, preview_models_name_created_at_us). */
export function selectModels(order: 'asc' | 'desc', ofName: boolean): string {
  return `
SELECT ${MODEL_COLUMN_LIST}
FROM preview_models
WHERE ${ofName ? 'name = @name AND ' : ''}${cursorCondition(order, ' AND deleted_at_us IS NULL')}
`
}

/** Hides a model; by primary key. */
export const DELETE_PREVIEW_MODEL = `
UPDATE preview_models
SET deleted_at_us = @deleted_at_us
WHERE id = @id AND deleted_at_us IS NULL
`

/** Makes later steps continue after one that no job made; by primary key. */
export const RAISE_LAST_STEP = `
UPDATE preview_models
SET last_step = @step
WHERE id = @model_id AND last_step < @step
`
