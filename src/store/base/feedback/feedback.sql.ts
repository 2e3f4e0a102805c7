/** Statements for feedback that run on SQLite and PostgreSQL alike. */
import type { Dialect } from '../db/dialect.ts'

export const FEEDBACK_COLUMNS = [
  'project_id',
  'id',
  'weave_ref',
  'feedback_type',
  'creator',
  'annotation_ref',
  'runnable_ref',
  'call_ref',
  'trigger_ref',
  'queue_id',
  'svc_user_id',
  'created_at_us',
  'scores_json',
  'payload_json',
]

/** All but the payload. */
const NARROW_COLUMNS = FEEDBACK_COLUMNS.filter((name) => name !== 'payload_json')

/** The sets of a project's feedback that a query may read. */
export type FeedbackSource = 'all' | 'one_ref' | 'one_type' | 'id' | 'weave_ref' | 'feedback_type'

/** Parts of statements that each database reads in its own way. */
interface SourceStatements {
  /** FROM and the condition of a source; the condition follows another. Several texts are `@texts`. */
  readonly sources: Readonly<
    Record<FeedbackSource, { readonly from: string; readonly and: string }>
  >
  /** Bytes of the payload, and of the scores: what a part of rows is bounded by. */
  readonly payloadBytes: string
  readonly scoreBytes: string
}

/** Statements that differ by a few words. Indexes as in SQLite. */
export function feedbackStatements(dialect: Dialect, own: SourceStatements) {
  const { sources, payloadBytes, scoreBytes } = own
  return {
    /** Feedback of a project by ids (feedback_project_id_id). */
    FIND_FEEDBACK: `
SELECT
  ${FEEDBACK_COLUMNS.join(',\n  ')}
FROM feedback
WHERE project_id = @project_id AND id ${dialect.among('ids')}
`,
    /** Removes feedback (feedback_project_id_id). */
    DELETE_FEEDBACK: `
DELETE FROM feedback
WHERE project_id = @project_id AND id ${dialect.among('ids')}
`,
    /** Removes feedback of a type about some things. */
    DELETE_ABOUT: `
DELETE FROM ${sources.weave_ref.from}
WHERE project_id = @project_id
  AND feedback_type = @feedback_type
  ${sources.weave_ref.and}
`,
    /** Payloads; by primary key. */
    FIND_PAYLOADS: `
SELECT feedback_key, payload_json
FROM feedback
WHERE feedback_key ${dialect.among('keys', 'bigint')}
`,
    /** The scores; by primary key. */
    FIND_SCORES: `
SELECT
  created_at_us,
  feedback_type,
  weave_ref,
  runnable_ref,
  trigger_ref,
  scores_json
FROM feedback
WHERE feedback_key ${dialect.among('keys', 'bigint')}
`,
    /**
     * The feedback of a window in time order after a cursor, without payloads; SQLite reads only the index
     * (feedback_project_id_created_at_us_id_feedback_type_trigger_ref).
     */
    SELECT_WINDOW_PART: `
SELECT
  feedback_key,
  created_at_us,
  id,
  feedback_type,
  trigger_ref,
  ${payloadBytes} AS bytes,
  ${scoreBytes} AS score_bytes
FROM feedback
WHERE project_id = @project_id
  AND created_at_us < @end_us
  AND (created_at_us, id) > (@after_us, @after_id)
ORDER BY created_at_us, id
LIMIT @rows_max
`,
    /** Feedback of a period after a cursor, without payloads. Equal times are in ascending order of ids. */
    selectFeedback: (source: FeedbackSource, direction: 'asc' | 'desc') => `
SELECT
  feedback_key,
  ${NARROW_COLUMNS.join(',\n  ')},
  ${payloadBytes} AS bytes,
  NULL AS payload_json
FROM ${sources[source].from}
WHERE project_id = @project_id
  AND created_at_us BETWEEN @from_us AND @to_us
  AND (created_at_us <> @after_us OR id > @after_id)
  ${sources[source].and}
ORDER BY created_at_us ${direction}, id
LIMIT @rows_max
`,
  }
}

export type FeedbackStatements = ReturnType<typeof feedbackStatements>
