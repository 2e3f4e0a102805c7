/** The read jobs behind statistics over feedback: they walk a window in order of time and read what is chosen alone. */
import { numbersOf } from '../../../domain/feedback/feedback-metrics.ts'
import {
  type FeedbackWindow,
  isInWindow,
  type WindowEntry,
} from '../../../domain/feedback/feedback-sample.ts'
import {
  createScoreGroups,
  isChosenByIndex,
  type ScoredRow,
} from '../../../domain/feedback/score-groups.ts'
import { createBucketCursor } from '../../../domain/stats/bucket-cursor.ts'
import { createBucketTable } from '../../../domain/stats/bucket-table.ts'
import { ApiError } from '../../../errors.ts'
import type {
  FeedbackAggregateRequest,
  FeedbackAggregateResponse,
} from '../../../schemas/feedback/feedback-stats.ts'
import type { FeedbackMeasure, MeasuredFeedback } from '../../api/feedback/feedback.ts'
import type { Connection } from '../db/connection.ts'
import type { Checkpoint, ReadJob } from '../read/read-job.ts'
import { FIND_PAYLOAD, FIND_SCORES, SELECT_WINDOW_PART } from './feedback.sql.ts'

/** Limit: feedback of one statement, some 2 ms. */
const PART_ROWS = 1024
/** Limit: values that are kept for percentiles, 16 bytes each. */
const RANKED_VALUES_MAX = 5_000_000

interface WalkedEntry extends WindowEntry {
  readonly feedback_key: number
  readonly created_at_us: number
  readonly id: string
}

type WalkedTime = Pick<FeedbackWindow, 'project_id' | 'start_us' | 'end_us'>

/** Hands the feedback of a part of time over in its order; pauses by itself. */
function* walkWindow(
  db: Connection,
  { project_id, start_us, end_us }: WalkedTime,
  checkpoint: Checkpoint,
  take: (entry: WalkedEntry) => void,
): Generator<void, void> {
  const select = db.prepare(SELECT_WINDOW_PART)
  let place = { start_us, after_id: '' }
  while (true) {
    const part = select.all({ project_id, ...place, end_us, limit: PART_ROWS }) as WalkedEntry[]
    for (const entry of part) {
      take(entry)
      if (checkpoint()) yield
    }
    const last = part.at(-1)
    if (part.length < PART_ROWS || last === undefined) return
    place = { start_us: last.created_at_us, after_id: last.id }
  }
}

/** Numbers of payloads by bucket, and over the whole window. */
export const measureFeedback: ReadJob<FeedbackMeasure, MeasuredFeedback> = function* (
  db,
  { window, metrics: { metrics, columns }, startsUs },
  checkpoint,
) {
  const findPayload = db.prepare(FIND_PAYLOAD).pluck()
  const tables = [
    createBucketTable(columns, startsUs.length),
    createBucketTable(columns, 1),
  ] as const
  const [buckets, whole] = tables
  const cursor = createBucketCursor(startsUs, buckets.flush)
  const order = metrics.map(({ slug }) => buckets.metrics.indexOf(slug))
  const counts = metrics.map(() => 0)
  let ranked = 0

  function addNumbers(payload: unknown): void {
    for (const [at, metric] of metrics.entries()) {
      const index = order[at] as number
      for (const number of numbersOf(payload, metric)) {
        counts[at] = (counts[at] as number) + 1
        if (buckets.hasPercentiles(index)) ranked += 1
        for (const table of tables) table.add(index, number)
      }
    }
    if (ranked > RANKED_VALUES_MAX) throw tooMany()
  }

  yield* walkWindow(db, window, checkpoint, (entry) => {
    if (!isInWindow(entry, window)) return
    cursor.moveTo(entry.created_at_us)
    for (const table of tables) table.countRows(1)
    if (metrics.length === 0) return
    const json = findPayload.get({ feedback_key: entry.feedback_key }) as string | undefined
    // It was deleted while others had their turn.
    if (json !== undefined) addNumbers(JSON.parse(json))
  })
  if (startsUs.length > 0) cursor.end()
  whole.flush(0)
  const bySlug = metrics.map(({ slug }, at) => [slug, counts[at] as number] as const)
  return { buckets: buckets.table, whole: whole.table, counts: Object.fromEntries(bySlug) }
}

/** Scores by time and group. */
export const aggregateFeedback: ReadJob<
  FeedbackAggregateRequest,
  FeedbackAggregateResponse['buckets']
> = function* (db, request, checkpoint) {
  const { project_id, after_ms, before_ms } = request
  const findScores = db.prepare(FIND_SCORES)
  const groups = createScoreGroups(request)
  const window = { project_id, start_us: after_ms * 1000, end_us: before_ms * 1000 }
  yield* walkWindow(db, window, checkpoint, (entry) => {
    if (!isChosenByIndex(entry, request)) return
    const row = findScores.get({ feedback_key: entry.feedback_key }) as ScoredRow | undefined
    // It was deleted while others had their turn.
    if (row !== undefined) groups.add(row)
  })
  return groups.buckets()
}

function tooMany(): ApiError {
  const message = `Percentiles of more than ${RANKED_VALUES_MAX} values: ask for a shorter window.`
  return new ApiError('validation_failed', { param: 'start', message })
}
