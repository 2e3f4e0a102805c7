/** Statistics over feedback: walks a window in order of time, and reads the selected rows. */

import {
  type FeedbackSample,
  type FeedbackWindow,
  isInWindow,
  SAMPLE_CHARACTERS_MAX,
  type WindowEntry,
} from '../../../domain/feedback/feedback-sample.ts'
import { createFeedbackSums, type FeedbackSums } from '../../../domain/feedback/feedback-sums.ts'
import {
  createScoreGroups,
  isChosenByIndex,
  type ScoredRow,
} from '../../../domain/feedback/score-groups.ts'
import { createLeafPaths } from '../../../domain/json/json-paths.ts'
import type {
  FeedbackAggregateRequest,
  FeedbackAggregateResponse,
} from '../../../schemas/feedback/feedback-stats.ts'
import type { FeedbackMeasure, PayloadPaths } from '../../api/feedback/feedback.ts'
import type { Postgres } from '../db/client.ts'
import { partsBySize } from '../db/parts.ts'
import type { Checkpoint } from '../db/reads.ts'
import * as SQL from './feedback.sql.ts'
import { readPayloads } from './payloads.ts'

/** Limit: feedback of one statement. */
const PART_ROWS = 1000

interface WalkedEntry extends WindowEntry {
  readonly feedback_key: number
  readonly created_at_us: number
  readonly id: string
  /** Of the payload. */
  readonly bytes: number
  readonly score_bytes: number
}

type WalkedTime = Pick<FeedbackWindow, 'project_id' | 'start_us' | 'end_us'>

async function* walkWindow(
  db: Postgres,
  { project_id, start_us, end_us }: WalkedTime,
  checkpoint: Checkpoint,
): AsyncGenerator<readonly WalkedEntry[], void> {
  // No id is empty, so this cursor is before everything at the first time.
  let place = { after_us: start_us, after_id: '' }
  while (true) {
    checkpoint()
    const parameters = { project_id, ...place, end_us, rows_max: PART_ROWS }
    const part = await db.all<WalkedEntry>(SQL.SELECT_WINDOW_PART, parameters)
    yield part
    const last = part.at(-1)
    if (part.length < PART_ROWS || last === undefined) return
    place = { after_us: last.created_at_us, after_id: last.id }
  }
}

/** Numbers of payloads by bucket, and over the whole window. */
export async function measureFeedback(
  db: Postgres,
  measure: FeedbackMeasure,
  checkpoint: Checkpoint,
): Promise<FeedbackSums> {
  const { window, metrics } = measure
  const sums = createFeedbackSums(metrics, measure.startsUs)
  for await (const entries of walkWindow(db, window, checkpoint)) {
    const chosen = entries.filter((entry) => isInWindow(entry, window))
    if (metrics.metrics.length === 0) {
      for (const { created_at_us } of chosen) sums.add(created_at_us, null)
      continue
    }
    for (const part of partsBySize(chosen)) {
      checkpoint()
      for (const row of await readPayloads(db, part)) sums.add(row.created_at_us, row.payload_json)
    }
  }
  return sums.end()
}

/** Scores by time and group. */
export async function aggregateFeedback(
  db: Postgres,
  request: FeedbackAggregateRequest,
  checkpoint: Checkpoint,
): Promise<FeedbackAggregateResponse['buckets']> {
  const { project_id, after_ms, before_ms } = request
  const groups = createScoreGroups(request)
  const window = { project_id, start_us: after_ms * 1000, end_us: before_ms * 1000 }
  for await (const entries of walkWindow(db, window, checkpoint)) {
    const chosen = entries
      .filter((entry) => isChosenByIndex(entry, request))
      .map(({ feedback_key, score_bytes: bytes }) => ({ feedback_key, bytes }))
    for (const part of partsBySize(chosen)) {
      checkpoint()
      const keys = part.map(({ feedback_key }) => feedback_key)
      for (const row of await db.all<ScoredRow>(SQL.FIND_SCORES, { keys })) groups.add(row)
    }
  }
  return groups.buckets()
}

/** Leaf paths of a sample; the newest payloads are read first, so that limits exclude old ones. */
export async function findPayloadPaths(
  db: Postgres,
  sample: FeedbackSample,
  checkpoint: Checkpoint,
): Promise<PayloadPaths> {
  const leaves = createLeafPaths()
  type Chosen = { feedback_key: number; bytes: number }
  const chosen = await db.snapshot((tx) => tx.all<Chosen>(SQL.CHOOSE_SAMPLE, { ...sample }))
  let characters = 0
  for (const part of partsBySize(chosen)) {
    checkpoint()
    for (const { payload_json } of await readPayloads(db, part)) {
      characters += payload_json.length
      if (characters > SAMPLE_CHARACTERS_MAX) return { paths: leaves.list(), is_complete: false }
      leaves.add(JSON.parse(payload_json))
    }
  }
  return { paths: leaves.list(), is_complete: leaves.isComplete() }
}
