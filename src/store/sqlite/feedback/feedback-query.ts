/** The read job behind `/feedback/query`. Reads payloads only when the query or the result needs them. */
import { renderFeedbackPage } from '../../../domain/feedback/feedback-page.ts'
import { type FeedbackRow, feedbackField } from '../../../domain/feedback/feedback-view.ts'
import { type FeedbackWalk, planFeedbackWalk } from '../../../domain/feedback/feedback-walk.ts'
import { createRowSelection, type RowQuery } from '../../../domain/query/row-query.ts'
import type { FeedbackRows } from '../../api/feedback/feedback.ts'
import type { Connection } from '../db/connection.ts'
import type { ReadJob } from '../read/read-job.ts'
import {
  COUNT_OF_TYPES,
  type FeedbackSource,
  FIND_PAYLOAD,
  selectFeedback,
} from './feedback.sql.ts'

/** Limit: feedback of a type that is read and sorted at once; with more, all feedback is walked in time order. */
const TYPE_ROWS = 4096

/** The input of the job. */
interface FeedbackQuery {
  readonly project_id: string
  readonly query: RowQuery
}

interface KeyedRow extends FeedbackRow {
  readonly feedback_key: number
}

/** Walks the feedback that can match, in time order. Pauses only if an index has that order; few rows need no pause. */
export const queryFeedback: ReadJob<FeedbackQuery, FeedbackRows> = function* (
  db,
  { project_id, query },
  checkpoint,
) {
  const parsed = new WeakMap<FeedbackRow, unknown>()
  const plan = planFeedbackWalk(query)
  const selection = createRowSelection<KeyedRow>(
    plan.query,
    (row, path) => feedbackField(row, path, parsed),
    plan.isPresorted,
  )
  const { readFrom, canPause } = openRows(db, project_id, plan)
  let last: OpenRow | null = null
  do {
    let isPaused = false
    const from: OpenRow | null = last
    last = null
    for (const row of readFrom(from)) {
      const isWanted = selection.add(row)
      // Releases the payload of the row: the selection may keep very many rows.
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

function openRows(db: Connection, project_id: string, plan: FeedbackWalk) {
  const { createdUs, direction } = plan
  const texts = JSON.stringify(plan.texts)
  const source = sourceOf(db, { project_id, texts }, plan)
  const statement = db.prepare(selectFeedback(source, direction, plan.readsPayload))
  return {
    canPause: source === 'all' || source === 'one_ref',
    readFrom(last: OpenRow | null): Iterable<OpenRow> {
      const after_us = last?.created_at_us ?? null
      const bounds = {
        from_us: direction === 'asc' ? (after_us ?? createdUs.from) : createdUs.from,
        to_us: direction === 'desc' ? (after_us ?? createdUs.to) : createdUs.to,
      }
      const after = { after_us, after_id: last?.id ?? '' }
      const named = source === 'all' ? {} : { texts }
      return statement.iterate({
        project_id,
        ...named,
        ...bounds,
        ...after,
      }) as IterableIterator<OpenRow>
    },
  }
}

function sourceOf(
  db: Connection,
  named: { readonly project_id: string; readonly texts: string },
  { column, texts }: FeedbackWalk,
): FeedbackSource {
  if (column === 'weave_ref' && texts.length === 1) return 'one_ref'
  if (column !== 'feedback_type') return column ?? 'all'
  const count = db.prepare(COUNT_OF_TYPES).pluck()
  return (count.get({ ...named, limit: TYPE_ROWS }) as number) < TYPE_ROWS ? column : 'all'
}

function renderRows(db: Connection, rows: readonly KeyedRow[], { fields }: RowQuery) {
  const withPayload = fields.some(({ path }) => path[0] === 'payload')
  const findPayload = db.prepare(FIND_PAYLOAD).pluck()
  const page = renderFeedbackPage(fields)
  for (const row of rows) {
    const { feedback_key } = row
    const payload_json = withPayload ? findPayload.get({ feedback_key }) : null
    // It was deleted during a pause.
    if (payload_json === undefined) continue
    page.add([{ ...row, payload_json: payload_json as string | null }])
  }
  return page.texts()
}
