/** The read jobs behind statistics of feedback: they walk a window in time order and read only the chosen records. */
import {
  type FeedbackWindow,
  isInWindow,
  type WindowEntry,
} from '../../../domain/feedback/feedback-sample.ts'
import { createFeedbackSums, type FeedbackSums } from '../../../domain/feedback/feedback-sums.ts'
import {
  createScoreGroups,
  isChosenByIndex,
  type ScoredRow,
} from '../../../domain/feedback/score-groups.ts'
import type {
  FeedbackAggregateRequest,
  FeedbackAggregateResponse,
} from '../../../schemas/feedback/feedback-stats.ts'
import type { FeedbackMeasure } from '../../api/feedback/feedback.ts'
import type { Connection } from '../db/connection.ts'
import type { Checkpoint, ReadJob } from '../read/read-job.ts'
import { FIND_PAYLOAD, FIND_SCORES, SELECT_WINDOW_PART } from './feedback.sql.ts'

/** Limit: feedback rows of one statement, some 2 ms. */
const PART_ROWS = 1024

interface WalkedEntry extends WindowEntry {
  readonly feedback_key: number
  readonly created_at_us: number
  readonly id: string
}

type WalkedTime = Pick<FeedbackWindow, 'project_id' | 'start_us' | 'end_us'>

/** Passes the feedback of a part of time to `take`, in time order; pauses. */
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

/** Sums up numbers in payloads by bucket and over the whole window. */
export const measureFeedback: ReadJob<FeedbackMeasure, FeedbackSums> = function* (
  db,
  { window, metrics, startsUs },
  checkpoint,
) {
  const findPayload = db.prepare(FIND_PAYLOAD).pluck()
  const sums = createFeedbackSums(metrics, startsUs)
  yield* walkWindow(db, window, checkpoint, ({ feedback_key, created_at_us, ...entry }) => {
    if (!isInWindow(entry, window)) return
    const isCounted = metrics.metrics.length === 0
    const json = isCounted ? null : (findPayload.get({ feedback_key }) as string | undefined)
    // It was deleted during a pause.
    if (json !== undefined) sums.add(created_at_us, json)
  })
  return sums.end()
}

/** Aggregates scores by time and group. */
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
    // It was deleted during a pause.
    if (row !== undefined) groups.add(row)
  })
  return groups.buckets()
}
