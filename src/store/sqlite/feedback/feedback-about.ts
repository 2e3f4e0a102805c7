/** Reads the feedback about things, one by one or many at once. */
import type { FeedbackRow } from '../../../domain/feedback/feedback-view.ts'
import { FEEDBACK_ABOUT_MAX } from '../../api/feedback/feedback.ts'
import type { Connection } from '../db/connection.ts'
import type { ReadJob } from '../read/read-job.ts'
import {
  COUNT_FEEDBACK_BY_REF,
  SELECT_FEEDBACK_ABOUT,
  SELECT_FEEDBACK_ABOUT_MANY,
} from './feedback.sql.ts'

/** Limit: things with feedback that are counted at once, some 200 bytes each. */
const JUDGED_MAX = 200_000

/** Limit: characters of payloads after which a page of feedback ends. */
const PAGE_CHARS_MAX = 4 * 1024 * 1024

/** Things, by ref. */
interface FeedbackAbout {
  readonly project_id: string
  readonly refs: readonly string[]
}

/** The read job for feedback about many things: returns that of the first things, at least one, in order. */
export const pageFeedbackAbout: ReadJob<FeedbackAbout, FeedbackRow[][]> = (
  db,
  { project_id, refs },
  checkpoint,
) => {
  const feedbackAbout = createFeedbackAbout(db)
  const page: FeedbackRow[][] = []
  let characters = 0
  for (const ref of refs) {
    const rows = feedbackAbout(project_id, ref)
    for (const { payload_json } of rows) characters += payload_json?.length ?? 0
    page.push(rows)
    if (characters > PAGE_CHARS_MAX) break
    checkpoint()
  }
  return page
}

/** @returns a function that returns the newest feedback about a thing, oldest first */
export function createFeedbackAbout(db: Connection) {
  const select = db.prepare(SELECT_FEEDBACK_ABOUT)
  return (project_id: string, weave_ref: string): FeedbackRow[] =>
    (select.all({ project_id, weave_ref, limit: FEEDBACK_ABOUT_MAX }) as FeedbackRow[]).reverse()
}

/** @returns a function that returns the newest feedback about things by ref, oldest first; omits things without any */
export function createFeedbackAboutMany(db: Connection) {
  const select = db.prepare(SELECT_FEEDBACK_ABOUT_MANY)
  return (project_id: string, weave_refs: readonly string[]): Map<string, FeedbackRow[]> => {
    const parameters = {
      project_id,
      weave_refs: JSON.stringify(weave_refs),
      limit: FEEDBACK_ABOUT_MAX,
    }
    return Map.groupBy(select.all(parameters) as FeedbackRow[], ({ weave_ref }) => weave_ref)
  }
}

/**
 * Counts feedback by thing. Few of many things have any, so querying them one by one would dominate the time.
 *
 * @param start - the prefix of the refs of the things, such as `weave:///acme/demo/call/`
 * @returns the counts of things with feedback by the rest of their refs; null when there are too many
 */
export function countFeedback(
  db: Connection,
  project_id: string,
  start: string,
): ReadonlyMap<string, number> | null {
  const select = db.prepare(COUNT_FEEDBACK_BY_REF).raw()
  // The end of the range of refs with this prefix: '0' follows '/'.
  const end = `${start.slice(0, -1)}0`
  const counts = select.all({ project_id, start, end, limit: JUDGED_MAX + 1 }) as [string, number][]
  return counts.length > JUDGED_MAX ? null : new Map(counts)
}
