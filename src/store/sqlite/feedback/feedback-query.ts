/** The read job behind `/feedback/query`. Payloads are read only where the query or the answer needs them. */
import { renderFeedbackPage } from '../../../domain/feedback/feedback-page.ts'
import { type FeedbackRow, feedbackField } from '../../../domain/feedback/feedback-view.ts'
import { fieldPaths } from '../../../domain/query/query-expression.ts'
import {
  createRowSelection,
  type RowQuery,
  requiredTexts,
} from '../../../domain/query/row-query.ts'
import type { FeedbackRows } from '../../api/feedback/feedback.ts'
import type { Connection } from '../db/connection.ts'
import type { ReadJob } from '../read/read-job.ts'
import { type FeedbackSource, FIND_PAYLOAD, selectFeedback } from './feedback.sql.ts'

/** What the job needs. */
interface FeedbackQuery {
  readonly project_id: string
  readonly query: RowQuery
}

interface KeyedRow extends FeedbackRow {
  readonly feedback_key: number
}

/**
 * Walks the feedback that can match, in order of time. Pauses where it walks the whole project; what is named by id
 * or ref is read in one go.
 */
export const queryFeedback: ReadJob<FeedbackQuery, FeedbackRows> = function* (
  db,
  { project_id, query },
  checkpoint,
) {
  const parsed = new WeakMap<FeedbackRow, unknown>()
  const selection = createRowSelection<KeyedRow>(query, (row, path) =>
    feedbackField(row, path, parsed),
  )
  const { readFrom, canPause } = openRows(db, project_id, query)
  let last: OpenRow | null = null
  do {
    let isPaused = false
    const from: OpenRow | null = last
    last = null
    for (const row of readFrom(from)) {
      const isWanted = selection.add(row)
      // What is kept keeps no payload: there may be very many rows.
      parsed.delete(row)
      row.payload_json = null
      if (!isWanted) break
      isPaused = checkpoint() && canPause
      if (!isPaused) continue
      last = row
      break
    }
    if (isPaused) yield
  } while (last !== null)
  return { count: selection.count(), rows: renderRows(db, selection.rows(), query) }
}

type OpenRow = KeyedRow & { payload_json: string | null }

function openRows(db: Connection, project_id: string, query: RowQuery) {
  const { expression, sort } = query
  const ids = requiredTexts(expression, 'id')
  const refs = requiredTexts(expression, 'weave_ref')
  const source: FeedbackSource = ids ? 'id' : refs ? 'weave_ref' : 'all'
  const paths = [...(expression ? fieldPaths(expression) : []), ...sort.map(({ path }) => path)]
  const withPayload = paths.some(([first]) => first === 'payload')
  const texts = source === 'all' ? {} : { texts: JSON.stringify(ids ?? refs) }
  const statement = db.prepare(selectFeedback(source, withPayload))
  return {
    canPause: source === 'all',
    readFrom(last: OpenRow | null): Iterable<OpenRow> {
      const after = {
        after_us: last?.created_at_us ?? Number.MIN_SAFE_INTEGER,
        after_id: last?.id ?? '',
      }
      return statement.iterate({ project_id, ...texts, ...after }) as IterableIterator<OpenRow>
    },
  }
}

function renderRows(db: Connection, rows: readonly KeyedRow[], { fields }: RowQuery) {
  const withPayload = fields.some(({ path }) => path[0] === 'payload')
  const findPayload = db.prepare(FIND_PAYLOAD).pluck()
  const page = renderFeedbackPage(fields)
  for (const row of rows) {
    const { feedback_key } = row
    const payload_json = withPayload ? findPayload.get({ feedback_key }) : null
    // It was deleted while others had their turn.
    if (payload_json === undefined) continue
    page.add([{ ...row, payload_json: payload_json as string | null }])
  }
  return page.texts()
}
