/** Feedback in SQLite. Payloads are never read on the event loop, see payload-paths.ts. */
import type { Feedback } from '../../../domain/feedback/new-feedback.ts'
import type { ApiError } from '../../../errors.ts'
import type { FeedbackStore } from '../../api/feedback/feedback.ts'
import { toReplyError } from '../db/thread-failure.ts'
import type { ReadPool } from '../read/read-pool.ts'
import type { Writes } from '../write/writes.ts'
import type { WrittenFeedback } from './feedback-writes.ts'

export function createFeedbackStore(writes: Writes, reads: ReadPool): FeedbackStore {
  return {
    createFeedback: (feedback) => writes.run('create_feedback', feedback),
    async createFeedbackBatch(batch) {
      return (await writes.run('create_feedback_batch', batch)).map(toResult)
    },
    replaceFeedback: (replaced_id, feedback) =>
      writes.run('replace_feedback', { replaced_id, feedback }),
    purgeFeedback: (project_id, ids) => writes.run('purge_feedback', { project_id, ids }),
    queryFeedback: (project_id, query, caller) =>
      reads.run('feedback_query', { project_id, query }, caller),
    findPayloadPaths: (sample, caller) => reads.run('payload_paths', sample, caller),
  }
}

function toResult({ feedback, ...failure }: WrittenFeedback): Feedback | ApiError {
  return toReplyError(failure) ?? (feedback as Feedback)
}
