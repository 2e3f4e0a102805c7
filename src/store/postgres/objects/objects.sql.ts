/** Statements for published objects and their contents. */
import { markStatements } from '../../base/objects/marks.sql.ts'
import { objectStatements } from '../../base/objects/objects.sql.ts'
import { POSTGRES } from '../db/dialect.sql.ts'

export const OBJECTS = { ...objectStatements(POSTGRES), ...markStatements(POSTGRES) }

/** The texts of contents (json_values_project_id_digest_key). */
export const FIND_JSON_VALUES = `
SELECT digest, val_json
FROM json_values
WHERE project_id = @project_id AND digest = ANY (@digests::text[])
`

/** Serializes changes of the versions, tags and aliases of an object; the lock ends with the transaction. */
export const LOCK_OBJECT = `
SELECT pg_advisory_xact_lock(hashtextextended('object ' || @project_id || ' ' || @object_id, 0))
`
