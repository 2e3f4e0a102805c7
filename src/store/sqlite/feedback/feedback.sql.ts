/** Statements for feedback. */
import { PART_BYTES } from '../../base/db/sizes.ts'
import { count } from '../../base/db/steps.ts'
import { FEEDBACK_COLUMNS, feedbackStatements } from '../../base/feedback/feedback.sql.ts'
import type { FeedbackReads } from '../../base/feedback/feedback-reads.ts'
import { SQLITE } from '../db/dialect.sql.ts'

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

const AMONG_TEXTS = SQLITE.among('texts')
const BY_REF = 'feedback INDEXED BY feedback_project_id_weave_ref_created_at_us'
const BY_TYPE = 'feedback INDEXED BY feedback_project_id_feedback_type_trigger_ref_created_at_us_id'

/**
 * Why INDEXED BY: the planner would walk the whole project in order rather than sort the few rows of a set. Sizes are
 * not read, which would be a look at each row besides its index: each payload and each score is a part of its own.
 */
const STATEMENTS = feedbackStatements(SQLITE, {
  payloadBytes: String(PART_BYTES),
  scoreBytes: String(PART_BYTES),
  sources: {
    all: {
      from: 'feedback INDEXED BY feedback_project_id_created_at_us_id_feedback_type_trigger_ref',
      and: '',
    },
    one_ref: { from: BY_REF, and: 'AND weave_ref = @texts ->> 0' },
    one_type: { from: BY_TYPE, and: 'AND feedback_type = @texts ->> 0' },
    id: { from: 'feedback INDEXED BY feedback_project_id_id', and: `AND id ${AMONG_TEXTS}` },
    weave_ref: { from: BY_REF, and: `AND weave_ref ${AMONG_TEXTS}` },
    feedback_type: { from: BY_TYPE, and: `AND feedback_type ${AMONG_TEXTS}` },
  },
})

/**
 * The number of feedback rows of some types, up to @limit (covered by
 * feedback_project_id_feedback_type_trigger_ref_created_at_us_id).
 */
const COUNT_OF_TYPES = `
SELECT count(*) AS count
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
  feedback_key,
  ${FEEDBACK_COLUMNS.join(',\n  ')}
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

/** Limit: feedback of a type that is read and sorted at once; with more, all feedback is walked in time order. */
const TYPE_ROWS = 4096

export const FEEDBACK: FeedbackReads = {
  ...STATEMENTS,
  sortedRowsMax: 16_384,
  *sourceOf(project_id, { column, texts }) {
    if (column === 'weave_ref' && texts.length === 1) return 'one_ref'
    if (column !== 'feedback_type') return column ?? 'all'
    const rows = yield* count(COUNT_OF_TYPES, { project_id, texts, limit: TYPE_ROWS })
    return rows < TYPE_ROWS ? column : 'all'
  },
}
