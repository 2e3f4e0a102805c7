/** Feedback in SQLite. Queries run in readers; feedback about a page of things is read on this thread, in slices. */
import type { FeedbackRow } from '../../../domain/feedback/feedback-view.ts'
import type { FeedbackStore } from '../../api/feedback/feedback.ts'
import { createWritingMethods, type FeedbackWrites } from '../../base/feedback/feedback-writes.ts'
import type { Connection } from '../db/connection.ts'
import { openNextSlice } from '../db/next-slice.ts'
import { orStoreError } from '../db/store-error.ts'
import type { ReadPool } from '../read/read-pool.ts'
import { createStepRuns } from '../write/step-runs.ts'
import type { Writes } from '../write/writes.ts'
import { createFeedbackAbout } from './feedback-about.ts'

/** Limits of one slice, some 1 ms on the event loop: things looked up, and rows found. */
const SLICE_LOOKS = 128
const SLICE_ROWS = 256

/** @param db - for reads on this thread */
export function createFeedbackStore(
  db: Connection,
  writes: Writes,
  reads: ReadPool,
): FeedbackStore {
  const feedbackAbout = createFeedbackAbout(db)
  return {
    ...createWritingMethods(createStepRuns<FeedbackWrites>(db, writes).write),
    queryFeedback: (project_id, query, caller) =>
      reads.run('feedback_query', { project_id, query }, caller),
    async listAbout(weave_refs, caller) {
      const found: FeedbackRow[][] = []
      let [looks, rows] = [0, 0]
      for (const weave_ref of weave_refs) {
        if (looks >= SLICE_LOOKS || rows >= SLICE_ROWS) {
          await openNextSlice(caller)
          ;[looks, rows] = [0, 0]
        }
        const about = orStoreError(() => feedbackAbout(caller.project_id, weave_ref))
        looks += 1
        rows += about.length
        found.push(about)
      }
      return found
    },
    findPayloadPaths: (sample, caller) => reads.run('payload_paths', sample, caller),
    measureFeedback: (measure, caller) => reads.run('feedback_stats', measure, caller),
    aggregateFeedback: (request, caller) => reads.run('feedback_scores', request, caller),
  }
}
