/** Statements over preview models. */

/** A model whose name is new in its project; nothing happens otherwise (preview_models_entity_project_name). */
export const INSERT_PREVIEW_MODEL = `
INSERT INTO preview_models (
  id,
  entity,
  project,
  name,
  base_model,
  created_at_us,
  created_by
)
VALUES (
  @id,
  @entity,
  @project,
  @name,
  @base_model,
  @created_at_us,
  @created_by
)
ON CONFLICT (entity, project, name) DO NOTHING
`

const COLUMNS = `
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
SELECT ${COLUMNS}
FROM preview_models
WHERE entity = @entity AND project = @project AND name = @name
`

/** One model by primary key. */
export const FIND_PREVIEW_MODEL = `
SELECT ${COLUMNS}
FROM preview_models
WHERE id = @id
`
