/** Statements for names by which projects serve models. */
import { insertNamed } from '../db/rows.sql.ts'

const COLUMNS = [
  'project_id',
  'name',
  'target',
  'candidate',
  'candidate_percent',
  'earlier_json',
  'updated_at_us',
]
const SELECT = `SELECT ${COLUMNS.join(', ')} FROM served_aliases`

/** By primary key. */
export const FIND_ALIAS = `
${SELECT}
WHERE project_id = @project_id AND name = @name
`

/** By primary key. */
export const LIST_ALIASES = `
${SELECT}
WHERE project_id = @project_id
ORDER BY name
LIMIT @limit
`

/** By primary key. */
export const COUNT_ALIASES = `
SELECT count(*) AS count
FROM served_aliases
WHERE project_id = @project_id
`

export const SET_ALIAS = `
${insertNamed('served_aliases', COLUMNS)}
ON CONFLICT (project_id, name) DO UPDATE SET
  target = excluded.target,
  candidate = excluded.candidate,
  candidate_percent = excluded.candidate_percent,
  earlier_json = excluded.earlier_json,
  updated_at_us = excluded.updated_at_us
`

export const DELETE_ALIAS = `
DELETE FROM served_aliases
WHERE project_id = @project_id AND name = @name
`
