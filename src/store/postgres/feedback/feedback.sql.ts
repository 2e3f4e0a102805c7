/** Statements over feedback. */
import {
  FEEDBACK_COLUMNS,
  NARROW_COLUMNS,
  SELECT_SCORES,
} from '../../base/feedback/feedback.sql.ts'
import { insertRows } from '../db/rows.sql.ts'

/** The columns that queries always read, and the bytes of the payload. */
const READ_COLUMNS = [
  'feedback_key',
  ...NARROW_COLUMNS,
  'octet_length(payload_json) AS bytes',
].join(',\n  ')

/** Serializes replacements of these ids; the locks end with the transaction. */
export const LOCK_IDS = `
SELECT pg_advisory_xact_lock(hashtextextended('feedback ' || @project_id || ' ' || id, 0))
FROM unnest(@ids::text[]) AS id
`

/** Inserts feedback with new ids, each id once; returns those ids (feedback_project_id_id_key). */
export const INSERT_FEEDBACK = `${insertRows('feedback', FEEDBACK_COLUMNS)}ON CONFLICT (project_id, id) DO NOTHING
RETURNING project_id, id
`

/** Feedback by its ids (feedback_project_id_id_key). */
export const FIND_FEEDBACK = `
SELECT
  ${FEEDBACK_COLUMNS.join(',\n  ')}
FROM feedback
WHERE (project_id, id) IN (SELECT * FROM unnest(@project_ids::text[], @ids::text[]))
`

/** Removes feedback (feedback_project_id_id_key). */
export const DELETE_FEEDBACK = `
DELETE FROM feedback
WHERE project_id = @project_id AND id = ANY (@ids::text[])
`

/** The sets of a project's feedback that a query may read; all but several types have an index. */
const SOURCES = {
  all: '',
  one_ref: `AND hashtextextended(weave_ref, 0) = hashtextextended((@texts::text[])[1], 0)
  AND weave_ref = ANY (@texts::text[])`,
  id: 'AND id = ANY (@texts::text[])',
  weave_ref: `AND hashtextextended(weave_ref, 0) IN (SELECT hashtextextended(ref, 0) FROM unnest(@texts::text[]) AS ref)
  AND weave_ref = ANY (@texts::text[])`,
  one_type: `AND hashtextextended(feedback_type, 0) = hashtextextended((@texts::text[])[1], 0)
  AND feedback_type = ANY (@texts::text[])`,
  feedback_type: 'AND feedback_type = ANY (@texts::text[])',
} as const

/** Feedback of a period after a cursor, without payloads. Equal times are in ascending order of ids. */
export function selectFeedback(source: keyof typeof SOURCES, direction: 'asc' | 'desc'): string {
  return `
SELECT
  ${READ_COLUMNS}
FROM feedback
WHERE project_id = @project_id
  AND created_at_us BETWEEN @from_us AND @to_us
  AND (created_at_us IS DISTINCT FROM @after_us OR id > @after_id)
  ${SOURCES[source]}
ORDER BY created_at_us ${direction}, id
LIMIT @rows_max
`
}

/** Payloads; by primary key. */
export const FIND_PAYLOADS = `
SELECT feedback_key, payload_json
FROM feedback
WHERE feedback_key = ANY (@keys::bigint[])
`

/** The scores; by primary key. */
export const FIND_SCORES = `${SELECT_SCORES}
WHERE feedback_key = ANY (@keys::bigint[])
`

/** The feedback of a window in time order after a cursor, without payloads (feedback_project_id_created_at_us_id). */
export const SELECT_WINDOW_PART = `
SELECT
  feedback_key,
  created_at_us,
  id,
  feedback_type,
  trigger_ref,
  octet_length(payload_json) AS bytes,
  coalesce(octet_length(scores_json), 0) AS score_bytes
FROM feedback
WHERE project_id = @project_id
  AND created_at_us < @end_us
  AND (created_at_us, id) > (@after_us, @after_id)
ORDER BY created_at_us, id
LIMIT @rows_max
`

/**
 * The newest feedback of each trigger_ref in a window, null being one of them: the newest of them first
 * (feedback_project_id_created_at_us_id, then sorted).
 */
export const CHOOSE_SAMPLE = `
SELECT
  feedback_key,
  bytes
FROM (
  SELECT DISTINCT ON (trigger_ref)
    feedback_key,
    created_at_us,
    id,
    octet_length(payload_json) AS bytes
  FROM feedback
  WHERE project_id = @project_id
    AND created_at_us >= @start_us
    AND created_at_us < @end_us
    AND (@feedback_type::text IS NULL OR feedback_type = @feedback_type)
    AND (@trigger_ref::text IS NULL OR trigger_ref = @trigger_ref)
    AND (@trigger_prefix::text IS NULL OR starts_with(trigger_ref, @trigger_prefix))
  ORDER BY trigger_ref, created_at_us DESC, id DESC
) AS newest
ORDER BY created_at_us DESC, id DESC
LIMIT @sample_limit
`

/**
 * The newest feedback about each of some things, with the place of the thing, the oldest first
 * (feedback_project_id_weave_ref_created_at_us_id).
 */
export const SELECT_ABOUT = `
SELECT
  asked.place,
  about.*
FROM unnest(@weave_refs::text[]) WITH ORDINALITY AS asked (ref, place)
CROSS JOIN LATERAL (
  SELECT
    ${FEEDBACK_COLUMNS.join(',\n    ')}
  FROM feedback
  WHERE project_id = @project_id
    AND hashtextextended(weave_ref, 0) = hashtextextended(asked.ref, 0)
    AND weave_ref = asked.ref
  ORDER BY created_at_us DESC, id DESC
  LIMIT @rows_max
) AS about
ORDER BY asked.place, about.created_at_us, about.id
`
