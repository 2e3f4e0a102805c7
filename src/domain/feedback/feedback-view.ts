/** Stored feedback as queries read it: fields to compare and sort by, and the JSON of a row. Pure. */
import {
  SCORE_DEFAULTS,
  SCORE_FIELDS,
  type ScoreField,
} from '../../schemas/feedback/score-defaults.ts'
import { renderTimestamp } from '../../schemas/timestamp.ts'
import { parseLossless, renderJson } from '../json/json-text.ts'
import { timeValue, valueAt } from '../query/query-values.ts'
import type { RowQuery } from '../query/row-query.ts'
import type { Feedback } from './new-feedback.ts'

/** Fields of a row, in the order in which they are shown. */
export const FEEDBACK_FIELDS = [
  'id',
  'project_id',
  'weave_ref',
  'svc_user_id',
  'creator',
  'created_at',
  'feedback_type',
  'payload',
  'annotation_ref',
  'runnable_ref',
  'call_ref',
  'trigger_ref',
  'queue_id',
  ...SCORE_FIELDS,
] as const

/** Feedback whose payload may not have been read. */
export type FeedbackRow = Omit<Feedback, 'payload_json'> & { readonly payload_json: string | null }

/**
 * The value of a field; undefined when there is none.
 *
 * @param parsed - payloads that were parsed before, by row
 */
export function feedbackField(
  row: FeedbackRow,
  path: readonly string[],
  parsed: WeakMap<FeedbackRow, unknown>,
): unknown {
  const [first = '', ...rest] = path
  if (first === 'payload') {
    if (!parsed.has(row)) parsed.set(row, JSON.parse(row.payload_json ?? 'null'))
    return valueAt(parsed.get(row), rest)
  }
  if (isScore(first)) return valueAt(readScores(row, JSON.parse)[first], rest)
  if (rest.length > 0) return undefined
  if (first === 'created_at') return timeValue(row.created_at_us)
  return row[first as keyof FeedbackRow]
}

function isScore(field: string): field is ScoreField {
  return Object.hasOwn(SCORE_DEFAULTS, field)
}

/** Returns the scores of a feedback, with the default of each field that was not sent. */
export function readScores(
  { scores_json }: Pick<Feedback, 'scores_json'>,
  parse: (json: string) => unknown,
): Record<ScoreField, unknown> {
  if (scores_json === null) return SCORE_DEFAULTS
  return { ...SCORE_DEFAULTS, ...(parse(scores_json) as object) }
}

/** Returns the JSON text of the requested fields of a row; no digit of a payload is lost. */
export function renderFeedbackRow(row: FeedbackRow, fields: RowQuery['fields']): string {
  const members = fields.map(
    ({ name, path }) => `${JSON.stringify(name)}:${renderField(row, path)}`,
  )
  return `{${members.join(',')}}`
}

const WHOLE_ROW = FEEDBACK_FIELDS.map((name) => ({ name, path: [name] }))

/** The JSON text of all fields of a row. */
export function renderWholeFeedback(row: FeedbackRow): string {
  return renderFeedbackRow(row, WHOLE_ROW)
}

function renderField(row: FeedbackRow, [first = '', ...rest]: readonly string[]): string {
  if (first === 'payload') {
    const json = row.payload_json ?? 'null'
    return rest.length === 0 ? json : renderJson(valueAt(parseLossless(json), rest))
  }
  if (isScore(first)) return renderJson(valueAt(readScores(row, parseLossless)[first], rest))
  if (rest.length > 0) return 'null'
  if (first === 'created_at') return JSON.stringify(renderTimestamp(row.created_at_us))
  return renderJson(row[first as keyof FeedbackRow])
}
