/** Feedback in PostgreSQL. */
import { requireWaiting } from '../../../domain/access/read-caller.ts'
import { ApiError } from '../../../errors.ts'
import type { FeedbackStore } from '../../api/feedback/feedback.ts'
import type { Postgres } from '../db/client.ts'
import type { Reads } from '../db/reads.ts'
import { readAbout } from './feedback-about.ts'
import { queryFeedback } from './feedback-query.ts'
import { aggregateFeedback, findPayloadPaths, measureFeedback } from './feedback-stats.ts'
import { createFeedbackWrites } from './feedback-writes.ts'

export function createFeedbackStore(db: Postgres, reads: Reads): FeedbackStore {
  const writes = createFeedbackWrites(db)
  return {
    ...writes,
    async createFeedback(feedback) {
      const [written] = await writes.createFeedbackBatch([feedback])
      if (written === undefined || written instanceof ApiError) throw written
      return written
    },
    queryFeedback: (project_id, query, caller) =>
      reads.run(caller, (checkpoint) => queryFeedback(db, project_id, query, checkpoint)),
    async listAbout(weave_refs, { project_id, signal }) {
      return readAbout(db, project_id, weave_refs, () => requireWaiting(signal))
    },
    findPayloadPaths: (sample, caller) =>
      reads.run(caller, (checkpoint) => findPayloadPaths(db, sample, checkpoint)),
    measureFeedback: (measure, caller) =>
      reads.run(caller, (checkpoint) => measureFeedback(db, measure, checkpoint)),
    aggregateFeedback: (request, caller) =>
      reads.run(caller, (checkpoint) => aggregateFeedback(db, request, checkpoint)),
  }
}
