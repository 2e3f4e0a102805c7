/** Queries over feedback. Payloads are read only where the query or the answer needs them. */
import { renderFeedbackPage } from '../../../domain/feedback/feedback-page.ts'
import { type FeedbackRow, feedbackField } from '../../../domain/feedback/feedback-view.ts'
import { type FeedbackWalk, planFeedbackWalk } from '../../../domain/feedback/feedback-walk.ts'
import { createRowSelection, type RowQuery } from '../../../domain/query/row-query.ts'
import type { FeedbackRows } from '../../api/feedback/feedback.ts'
import type { Postgres } from '../db/client.ts'
import { partsBySize } from '../db/parts.ts'
import type { Checkpoint } from '../db/reads.ts'
import { selectFeedback } from './feedback.sql.ts'
import { readPayloads } from './payloads.ts'

/** Limit: rows of one statement. */
const PART_ROWS = 1000

/** What is read for one text of a column, in order of time without a sort. */
const SOURCE_OF_ONE = { id: 'id', weave_ref: 'one_ref', feedback_type: 'one_type' } as const

type FeedbackEntry = FeedbackRow & {
  readonly feedback_key: number
  /** Of the payload. */
  readonly bytes: number
  payload_json: string | null
}

export async function queryFeedback(
  db: Postgres,
  project_id: string,
  query: RowQuery,
  checkpoint: Checkpoint,
): Promise<FeedbackRows> {
  const parsed = new WeakMap<FeedbackRow, unknown>()
  const plan = planFeedbackWalk(query)
  const selection = createRowSelection<FeedbackEntry>(
    plan.query,
    (row, path) => feedbackField(row, path, parsed),
    plan.isPresorted,
  )
  walk: for await (const rows of walkRows(db, project_id, plan)) {
    checkpoint()
    for (const row of rows) {
      const isWanted = selection.add(row)
      // What is kept keeps no payload: there may be very many rows.
      parsed.delete(row)
      row.payload_json = null
      if (!isWanted) break walk
    }
  }
  const page = selection.rows()
  const withPayload = query.fields.some(({ path }) => path[0] === 'payload')
  const answer = renderFeedbackPage(query.fields)
  for (const part of withPayload ? partsBySize(page) : [page]) {
    checkpoint()
    answer.add(withPayload ? await readPayloads(db, part) : part)
  }
  return { count: selection.count(), rows: answer.texts() }
}

/** The feedback that can match, in order of time, with the payloads that the query reads. */
async function* walkRows(
  db: Postgres,
  project_id: string,
  { column, texts, createdUs, direction, readsPayload }: FeedbackWalk,
): AsyncGenerator<readonly FeedbackEntry[], void> {
  const source = texts.length === 1 && column !== null ? SOURCE_OF_ONE[column] : (column ?? 'all')
  const sql = selectFeedback(source, direction)
  const named = column === null ? { project_id } : { project_id, texts }
  let bounds = { from_us: createdUs.from, to_us: createdUs.to }
  let after: { after_us: number | null; after_id: string } = { after_us: null, after_id: '' }
  while (true) {
    const found = { ...named, ...bounds, ...after, rows_max: PART_ROWS }
    const rows = (await db.all<FeedbackEntry>(sql, found)).map(withoutPayload)
    if (readsPayload) for (const part of partsBySize(rows)) yield await readPayloads(db, part)
    else yield rows
    const last = rows.at(-1)
    if (rows.length < PART_ROWS || last === undefined) return
    after = { after_us: last.created_at_us, after_id: last.id }
    bounds = { ...bounds, [direction === 'asc' ? 'from_us' : 'to_us']: last.created_at_us }
  }
}

function withoutPayload(row: FeedbackEntry): FeedbackEntry {
  row.payload_json = null
  return row
}
