/** The read job behind payload schemas: chooses the sample, then reads one payload after the other. */
import type { FeedbackSample } from '../../domain/feedback-sample.ts'
import { createLeafPaths } from '../../domain/json-paths.ts'
import type { PayloadPaths } from '../api/feedback.ts'
import type { Connection } from './connection.ts'
import type { ReadJob } from './read-jobs.ts'
import { FIND_PAYLOAD, SELECT_FEEDBACK_WINDOW } from './sql/feedback.ts'

/** Limit: characters of payload that one answer looks into, about three seconds of parsing. */
const SAMPLE_CHARACTERS_MAX = 256 * 1024 * 1024
const ROWS_PER_CHECKPOINT = 4096

interface WindowRow {
  readonly feedback_key: number
  readonly trigger_ref: string | null
}

/** Leaf paths of a sample; the newest payloads are read first, so that a limit leaves out old ones. */
export const findPayloadPaths: ReadJob<FeedbackSample, PayloadPaths> = (db, sample, checkpoint) => {
  const findPayload = db.prepare(FIND_PAYLOAD).pluck()
  const leaves = createLeafPaths()
  let characters = 0
  for (const feedback_key of chooseSample(db, sample, checkpoint)) {
    checkpoint()
    const json = findPayload.get({ feedback_key }) as string
    characters += json.length
    if (characters > SAMPLE_CHARACTERS_MAX) return { paths: leaves.list(), is_complete: false }
    leaves.add(JSON.parse(json))
  }
  return { paths: leaves.list(), is_complete: leaves.isComplete() }
}

/**
 * Keys of the newest feedback of each trigger_ref. The window is walked from its end, so the first row of a
 * group is its newest, and the walk stops with the last group that is wanted.
 */
function chooseSample(db: Connection, sample: FeedbackSample, checkpoint: () => void): number[] {
  const { sample_limit, ...window } = sample
  const keys: number[] = []
  const groups = new Set<string | null>()
  let rows = 0
  for (const row of db.prepare(SELECT_FEEDBACK_WINDOW).iterate(window)) {
    const { feedback_key, trigger_ref } = row as WindowRow
    if (++rows % ROWS_PER_CHECKPOINT === 0) checkpoint()
    if (groups.has(trigger_ref)) continue
    groups.add(trigger_ref)
    keys.push(feedback_key)
    if (keys.length === sample_limit) break
  }
  return keys
}
