/** Statements over feedback. */
import { FEEDBACK_COLUMNS, feedbackStatements } from '../../base/feedback/feedback.sql.ts'
import type { FeedbackReads } from '../../base/feedback/feedback-reads.ts'
import { POSTGRES } from '../db/dialect.sql.ts'

/** Serializes replacements of these ids; the locks end with the transaction. */
export const LOCK_IDS = `
SELECT pg_advisory_xact_lock(hashtextextended('feedback ' || @project_id || ' ' || id, 0))
FROM unnest(@ids::text[]) AS id
`

/** The source for one text of a column, in time order without a sort. */
const SOURCE_OF_ONE = { id: 'id', weave_ref: 'one_ref', feedback_type: 'one_type' } as const

function source(and: string) {
  return { from: 'feedback', and }
}

/** All sources but several types have an index. */
export const FEEDBACK: FeedbackReads = {
  ...feedbackStatements(POSTGRES, {
    payloadBytes: 'octet_length(payload_json)',
    scoreBytes: 'coalesce(octet_length(scores_json), 0)',
    sources: {
      all: source(''),
      one_ref: source(`AND hashtextextended(weave_ref, 0) = hashtextextended((@texts::text[])[1], 0)
  AND weave_ref = ANY (@texts::text[])`),
      id: source('AND id = ANY (@texts::text[])'),
      weave_ref:
        source(`AND hashtextextended(weave_ref, 0) IN (SELECT hashtextextended(ref, 0) FROM unnest(@texts::text[]) AS ref)
  AND weave_ref = ANY (@texts::text[])`),
      one_type:
        source(`AND hashtextextended(feedback_type, 0) = hashtextextended((@texts::text[])[1], 0)
  AND feedback_type = ANY (@texts::text[])`),
      feedback_type: source('AND feedback_type = ANY (@texts::text[])'),
    },
  }),
  // biome-ignore lint/correctness/useYield: needs no statement.
  *sourceOf(_project_id, { column, texts }) {
    return texts.length === 1 && column !== null ? SOURCE_OF_ONE[column] : (column ?? 'all')
  },
}

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
 * The newest feedback about each of some things, with the index of the thing, the oldest first
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
