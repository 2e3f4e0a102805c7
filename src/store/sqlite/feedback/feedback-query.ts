/** The read job behind `/feedback/query`. Payloads are read only where the query or the answer needs them. */
import {
  type FeedbackRow,
  feedbackField,
  renderFeedbackRow,
} from '../../../domain/feedback/feedback-view.ts'
import { fieldPaths } from '../../../domain/query/query-expression.ts'
import {
  createRowSelection,
  type RowQuery,
  requiredTexts,
} from '../../../domain/query/row-query.ts'
import { ApiError } from '../../../errors.ts'
import type { FeedbackRows } from '../../api/feedback.ts'
import type { Connection } from '../db/connection.ts'
import type { ReadJob } from '../read/read-jobs.ts'
import { type FeedbackSource, FIND_PAYLOAD, selectFeedback } from './feedback.sql.ts'

/** Limit: characters of one answer, some 0.2 s of work for the event loop. */
const ANSWER_CHARACTERS_MAX = 16 * 1024 * 1024
const ROWS_PER_CHECKPOINT = 1000

/** What the job needs. */
export interface FeedbackQuery {
  readonly project_id: string
  readonly query: RowQuery
}

interface KeyedRow extends FeedbackRow {
  readonly feedback_key: number
}

/** Walks the feedback that can match, in order of time. */
export const queryFeedback: ReadJob<FeedbackQuery, FeedbackRows> = (
  db,
  { project_id, query },
  checkpoint,
) => {
  const parsed = new WeakMap<FeedbackRow, unknown>()
  const selection = createRowSelection<KeyedRow>(query, (row, path) =>
    feedbackField(row, path, parsed),
  )
  let rows = 0
  for (const row of readRows(db, project_id, query)) {
    rows += 1
    if (rows % ROWS_PER_CHECKPOINT === 0) checkpoint()
    const isWanted = selection.add(row)
    // What is kept keeps no payload: there may be very many rows.
    parsed.delete(row)
    row.payload_json = null
    if (!isWanted) break
  }
  return { count: selection.count(), rows: renderRows(db, selection.rows(), query) }
}

type OpenRow = KeyedRow & { payload_json: string | null }

function readRows(db: Connection, project_id: string, query: RowQuery): Iterable<OpenRow> {
  const { expression, sort } = query
  const ids = requiredTexts(expression, 'id')
  const refs = requiredTexts(expression, 'weave_ref')
  const source: FeedbackSource = ids ? 'id' : refs ? 'weave_ref' : 'all'
  const paths = [...(expression ? fieldPaths(expression) : []), ...sort.map(({ path }) => path)]
  const withPayload = paths.some(([first]) => first === 'payload')
  const texts = source === 'all' ? {} : { texts: JSON.stringify(ids ?? refs) }
  const statement = db.prepare(selectFeedback(source, withPayload))
  return statement.iterate({ project_id, ...texts }) as IterableIterator<OpenRow>
}

function renderRows(db: Connection, rows: readonly KeyedRow[], { fields }: RowQuery): string[] {
  const withPayload = fields.some(({ path }) => path[0] === 'payload')
  const findPayload = db.prepare(FIND_PAYLOAD).pluck()
  let characters = 0
  return rows.map((row) => {
    const { feedback_key } = row
    const payload_json = withPayload ? (findPayload.get({ feedback_key }) as string) : null
    const text = renderFeedbackRow({ ...row, payload_json }, fields)
    characters += text.length
    if (characters > ANSWER_CHARACTERS_MAX) throw tooLarge()
    return text
  })
}

function tooLarge(): ApiError {
  const message = `The rows have more than ${ANSWER_CHARACTERS_MAX} characters: ask for fewer.`
  return new ApiError('validation_failed', { param: 'limit', message })
}
