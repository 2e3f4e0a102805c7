/** Statements for feedback. */
import { insertNamed } from '../../base/db/rows.sql.ts'
import {
  FEEDBACK_COLUMNS,
  NARROW_COLUMNS,
  SELECT_SCORES,
} from '../../base/feedback/feedback.sql.ts'

/** Inserts feedback with a new id; does nothing when the id is taken (feedback_project_id_id). */
export const INSERT_FEEDBACK = `${insertNamed('feedback', FEEDBACK_COLUMNS)}ON CONFLICT (project_id, id) DO NOTHING
`

/** One feedback record (feedback_project_id_id). */
export const FIND_FEEDBACK = `
SELECT
  ${FEEDBACK_COLUMNS.join(',\n  ')}
FROM feedback
WHERE project_id = @project_id AND id = @id
`

/**
 * The newest feedback of a window, at most @rows_max, without payloads; reads only the index
 * (feedback_project_id_created_at_us_id_feedback_type_trigger_ref).
 */
export const SELECT_FEEDBACK_WINDOW = `
SELECT
  feedback_key,
  feedback_type,
  trigger_ref
FROM feedback
WHERE project_id = @project_id
  AND created_at_us >= @start_us
  AND created_at_us < @end_us
ORDER BY created_at_us DESC, id DESC
LIMIT @rows_max
`

/**
 * The feedback of a window in time order after a cursor, without payloads; reads only the index
 * (feedback_project_id_created_at_us_id_feedback_type_trigger_ref).
 */
export const SELECT_WINDOW_PART = `
SELECT
  feedback_key,
  created_at_us,
  id,
  feedback_type,
  trigger_ref
FROM feedback
WHERE project_id = @project_id
  AND created_at_us >= @start_us
  AND created_at_us < @end_us
  AND (created_at_us, id) > (@start_us, @after_id)
ORDER BY created_at_us, id
LIMIT @limit
`

/** The next type after another (feedback_project_id_feedback_type_trigger_ref_created_at_us_id). */
export const FIND_NEXT_TYPE = `
SELECT feedback_type
FROM feedback
WHERE project_id = @project_id AND feedback_type > @feedback_type
ORDER BY feedback_type
LIMIT 1
`

/**
 * The next trigger_ref of a type after another; never null
 * (feedback_project_id_feedback_type_trigger_ref_created_at_us_id).
 */
export const FIND_NEXT_TRIGGER = `
SELECT trigger_ref
FROM feedback
WHERE project_id = @project_id
  AND feedback_type = @feedback_type
  AND trigger_ref > @trigger_ref
ORDER BY trigger_ref
LIMIT 1
`

/**
 * The newest feedback of a type and a trigger_ref, null included, in a window
 * (feedback_project_id_feedback_type_trigger_ref_created_at_us_id).
 */
export const FIND_NEWEST_OF_GROUP = `
SELECT
  feedback_key,
  trigger_ref,
  created_at_us,
  id
FROM feedback
WHERE project_id = @project_id
  AND feedback_type = @feedback_type
  AND trigger_ref IS @trigger_ref
  AND created_at_us >= @start_us
  AND created_at_us < @end_us
ORDER BY created_at_us DESC, id DESC
LIMIT 1
`

/** The columns that queries always read. */
const READ_COLUMNS = ['feedback_key', ...NARROW_COLUMNS].join(',\n  ')

const AMONG_TEXTS = 'IN (SELECT value FROM json_each(@texts))'

/**
 * The sets of a project's feedback that a query may read. Why INDEXED BY: the planner would walk the whole project in
 * order rather than sort the few rows of a set.
 */
const SOURCES = {
  all: {
    index: 'feedback_project_id_created_at_us_id_feedback_type_trigger_ref',
    condition: '',
  },
  one_ref: {
    index: 'feedback_project_id_weave_ref_created_at_us',
    condition: 'AND weave_ref = @texts ->> 0',
  },
  id: {
    index: 'feedback_project_id_id',
    condition: `AND id ${AMONG_TEXTS}`,
  },
  weave_ref: {
    index: 'feedback_project_id_weave_ref_created_at_us',
    condition: `AND weave_ref ${AMONG_TEXTS}`,
  },
  feedback_type: {
    index: 'feedback_project_id_feedback_type_trigger_ref_created_at_us_id',
    condition: `AND feedback_type ${AMONG_TEXTS}`,
  },
} as const

export type FeedbackSource = keyof typeof SOURCES

/**
 * Feedback of a part of time after a cursor, by the index of its source, with payloads only if the query reads them.
 * The first two sources are read in time order, the others are sorted. Equal times are in ascending order of ids.
 */
export function selectFeedback(
  source: FeedbackSource,
  direction: 'asc' | 'desc',
  withPayload: boolean,
): string {
  const { index, condition } = SOURCES[source]
  return `
SELECT
  ${READ_COLUMNS},
  ${withPayload ? 'payload_json' : 'NULL AS payload_json'}
FROM feedback INDEXED BY ${index}
WHERE project_id = @project_id
  AND created_at_us BETWEEN @from_us AND @to_us
  AND (created_at_us IS NOT @after_us OR id > @after_id)
  ${condition}
ORDER BY created_at_us ${direction}, id
`
}

/**
 * The number of feedback rows of some types, up to @limit (covered by
 * feedback_project_id_feedback_type_trigger_ref_created_at_us_id).
 */
export const COUNT_OF_TYPES = `
SELECT count(*)
FROM (
  SELECT 1
  FROM feedback INDEXED BY feedback_project_id_feedback_type_trigger_ref_created_at_us_id
  WHERE project_id = @project_id AND feedback_type ${AMONG_TEXTS}
  LIMIT @limit
)
`

/**
 * The newest feedback about one thing, newest first, at most @limit
 * (feedback_project_id_weave_ref_created_at_us).
 */
export const SELECT_FEEDBACK_ABOUT = `
SELECT
  ${READ_COLUMNS},
  payload_json
FROM feedback INDEXED BY feedback_project_id_weave_ref_created_at_us
WHERE project_id = @project_id AND weave_ref = @weave_ref
ORDER BY created_at_us DESC, id DESC
LIMIT @limit
`

/**
 * The newest feedback about each of some things, oldest first, at most @limit of each
 * (feedback_project_id_weave_ref_created_at_us, then by primary key).
 */
export const SELECT_FEEDBACK_ABOUT_MANY = `
SELECT
  feedback.*
FROM json_each(@weave_refs) AS wanted
CROSS JOIN feedback ON feedback.feedback_key IN (
  SELECT about.feedback_key
  FROM feedback AS about INDEXED BY feedback_project_id_weave_ref_created_at_us
  WHERE about.project_id = @project_id AND about.weave_ref = wanted.value
  ORDER BY about.created_at_us DESC, about.id DESC
  LIMIT @limit
)
ORDER BY feedback.created_at_us, feedback.id
`

/**
 * The refs between two texts that have feedback, without the first text, and the number of rows of each
 * (covered by feedback_project_id_weave_ref_created_at_us).
 */
export const COUNT_FEEDBACK_BY_REF = `
SELECT
  substr(weave_ref, length(@start) + 1),
  count(*)
FROM feedback INDEXED BY feedback_project_id_weave_ref_created_at_us
WHERE project_id = @project_id
  AND weave_ref >= @start
  AND weave_ref < @end
GROUP BY weave_ref
LIMIT @limit
`

/** Removes one feedback record (feedback_project_id_id). */
export const DELETE_FEEDBACK = `
DELETE FROM feedback
WHERE project_id = @project_id AND id = @id
`

/** The scores of one record; by primary key. */
export const FIND_SCORES = `${SELECT_SCORES}
WHERE feedback_key = @feedback_key
`

/** One payload; by primary key. */
export const FIND_PAYLOAD = `
SELECT payload_json
FROM feedback
WHERE feedback_key = @feedback_key
`
