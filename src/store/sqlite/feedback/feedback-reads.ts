/** The read jobs of queries and statistics over feedback. */
import {
  type FeedbackSample,
  isInWindow,
  type WindowEntry,
} from '../../../domain/feedback/feedback-sample.ts'
import type { FeedbackSums } from '../../../domain/feedback/feedback-sums.ts'
import type {
  FeedbackAggregateRequest,
  FeedbackAggregateResponse,
} from '../../../schemas/feedback/feedback-stats.ts'
import type { FeedbackMeasure, FeedbackRows, PayloadPaths } from '../../api/feedback/feedback.ts'
import { PART_BYTES } from '../../base/db/sizes.ts'
import { createFeedbackReads, type FeedbackQuery } from '../../base/feedback/feedback-reads.ts'
import type { Connection } from '../db/connection.ts'
import { runPausing } from '../db/run-steps.ts'
import type { ReadJob } from '../read/read-job.ts'
import * as SQL from './feedback.sql.ts'

const READS = createFeedbackReads(SQL.FEEDBACK)

export const queryFeedback: ReadJob<FeedbackQuery, FeedbackRows> = (db, query, checkpoint) =>
  runPausing(db, READS.query(query), checkpoint)

export const measureFeedback: ReadJob<FeedbackMeasure, FeedbackSums> = (db, measure, checkpoint) =>
  runPausing(db, READS.measure(measure), checkpoint)

export const aggregateFeedback: ReadJob<
  FeedbackAggregateRequest,
  FeedbackAggregateResponse['buckets']
> = (db, request, checkpoint) => runPausing(db, READS.aggregate(request), checkpoint)

export const findPayloadPaths: ReadJob<FeedbackSample, PayloadPaths> = (db, sample, checkpoint) => {
  const keys = chooseSample(db, sample, checkpoint)
  const chosen = keys.map((feedback_key) => ({ feedback_key, bytes: PART_BYTES }))
  return runPausing(db, READS.findPaths(chosen), checkpoint)
}

/** How much work each strategy may do before the next is tried. */
interface SampleEffort {
  readonly walkRowsMax: number
  readonly askedGroupsMax: number
}

/** Limit: walking a row takes about 1 us, querying a group 10 to 40 us, so each try takes less than a second. */
const EFFORT: SampleEffort = { walkRowsMax: 20_000, askedGroupsMax: 20_000 }
const ROWS_PER_CHECKPOINT = 1000

interface WindowRow extends WindowEntry {
  readonly feedback_key: number
}

interface GroupRow {
  readonly feedback_key: number
  readonly trigger_ref: string | null
  readonly created_at_us: number
  readonly id: string
}

/**
 * Returns the keys of the newest feedback of the `sample_limit` newest trigger_refs, newest first. Walks a short
 * window. In a long one, where few groups may have very many rows, queries the newest of each group; with very many
 * groups, walks the whole window.
 */
export function chooseSample(
  db: Connection,
  sample: FeedbackSample,
  checkpoint: () => void,
  effort = EFFORT,
): number[] {
  return (
    walkWindow(db, sample, checkpoint, effort.walkRowsMax) ??
    askGroups(db, sample, checkpoint, effort.askedGroupsMax) ??
    walkWindow(db, sample, checkpoint, Number.MAX_SAFE_INTEGER) ??
    []
  )
}

/**
 * Walks the window from its end: the first row of a group is its newest, and the walk stops at the last wanted
 * group.
 *
 * @returns null when `rows_max` rows did not suffice
 */
function walkWindow(
  db: Connection,
  sample: FeedbackSample,
  checkpoint: () => void,
  rows_max: number,
): number[] | null {
  const keys = new Map<string | null, number>()
  let rows = 0
  for (const found of db.prepare(SQL.SELECT_FEEDBACK_WINDOW).iterate({ ...sample, rows_max })) {
    const row = found as WindowRow
    rows += 1
    if (rows % ROWS_PER_CHECKPOINT === 0) checkpoint()
    if (keys.has(row.trigger_ref) || !isInWindow(row, sample)) continue
    keys.set(row.trigger_ref, row.feedback_key)
    if (keys.size === sample.sample_limit) return [...keys.values()]
  }
  return rows < rows_max ? [...keys.values()] : null
}

/**
 * Queries the newest feedback of each type and trigger_ref in the window.
 *
 * @returns null when there are more than `groupsMax` groups
 */
function askGroups(
  db: Connection,
  sample: FeedbackSample,
  checkpoint: () => void,
  groupsMax: number,
): number[] | null {
  const findNewest = db.prepare(SQL.FIND_NEWEST_OF_GROUP)
  const newest = new Map<string | null, GroupRow>()
  let asked = 0
  for (const feedback_type of typesOf(db, sample)) {
    for (const trigger_ref of triggersOf(db, sample, feedback_type)) {
      asked += 1
      if (asked > groupsMax) return null
      if (asked % ROWS_PER_CHECKPOINT === 0) checkpoint()
      const row = findNewest.get({ ...sample, feedback_type, trigger_ref }) as GroupRow | undefined
      const other = newest.get(trigger_ref)
      if (row && (!other || compareNewest(row, other) < 0)) newest.set(trigger_ref, row)
    }
  }
  const sorted = [...newest.values()].sort(compareNewest)
  return sorted.slice(0, sample.sample_limit).map((row) => row.feedback_key)
}

function* typesOf(db: Connection, sample: FeedbackSample): Generator<string> {
  if (sample.feedback_type !== null) return yield sample.feedback_type
  const findNext = db.prepare(SQL.FIND_NEXT_TYPE).pluck()
  let feedback_type: unknown = ''
  while (true) {
    feedback_type = findNext.get({ ...sample, feedback_type })
    if (typeof feedback_type !== 'string') return
    yield feedback_type
  }
}

function* triggersOf(
  db: Connection,
  sample: FeedbackSample,
  feedback_type: string,
): Generator<string | null> {
  if (sample.trigger_ref !== null) return yield sample.trigger_ref
  const prefix = sample.trigger_prefix ?? ''
  if (sample.trigger_prefix === null) yield null
  const findNext = db.prepare(SQL.FIND_NEXT_TRIGGER).pluck()
  let trigger_ref: unknown = prefix
  while (true) {
    trigger_ref = findNext.get({ ...sample, feedback_type, trigger_ref })
    if (typeof trigger_ref !== 'string' || !trigger_ref.startsWith(prefix)) return
    yield trigger_ref
  }
}

/** Returns a negative number when `a` is newer; compares ids by bytes, as the index does. */
function compareNewest(a: GroupRow, b: GroupRow): number {
  if (a.created_at_us !== b.created_at_us) return b.created_at_us - a.created_at_us
  return Buffer.compare(Buffer.from(b.id), Buffer.from(a.id))
}
