/** Statements for the audit list. */
import { insertNamed } from '../db/rows.sql.ts'

const COLUMNS = [
  'id',
  'created_at_us',
  'svc_user_id',
  'key_id',
  'address',
  'forwarded_for',
  'action',
  'subject_id',
  'projects_json',
  'before_json',
  'after_json',
]
const SELECT = `SELECT ${COLUMNS.join(', ')} FROM audit_entries`

export const INSERT_ENTRY = insertNamed('audit_entries', COLUMNS)

/** By primary key. */
export const FIND_ENTRY = `
${SELECT}
WHERE id = @id
`

/**
 * The next entries after a cursor, in a time range; by the index that begins with the column of the filter.
 *
 * @param by - the column that equals `@wanted`; null: all entries
 */
export function listEntries(by: 'svc_user_id' | 'action' | null, order: 'asc' | 'desc'): string {
  const filter = by === null ? '' : `${by} = @wanted AND `
  return order === 'asc'
    ? `${SELECT}
WHERE ${filter}(created_at_us, id) > (@after_us, @after_id) AND created_at_us < @until_us
ORDER BY created_at_us, id
LIMIT @limit`
    : `${SELECT}
WHERE ${filter}(created_at_us, id) < (@after_us, @after_id) AND created_at_us >= @from_us
ORDER BY created_at_us DESC, id DESC
LIMIT @limit`
}

/** The oldest entries before a time, by the index of times. */
export const EXPIRE_ENTRIES = `
DELETE FROM audit_entries
WHERE id IN (
  SELECT id
  FROM audit_entries
  WHERE created_at_us < @before_us
  ORDER BY created_at_us, id
  LIMIT @limit
)
`
