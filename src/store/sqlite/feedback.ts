/** Feedback in SQLite. Payloads are never read on the connection that writes, see payload-paths.ts. */
import { type Feedback, isSameFeedback } from '../../domain/new-feedback.ts'
import { ApiError } from '../../errors.ts'
import type { FeedbackStore } from '../api/feedback.ts'
import type { Connection } from './connection.ts'
import type { GroupCommit } from './group-commit.ts'
import type { ReadPool } from './read-pool.ts'
import * as SQL from './sql/feedback.ts'

export function createFeedbackStore(
  db: Connection,
  commit: GroupCommit,
  reads: ReadPool,
): FeedbackStore {
  const insertFeedback = db.prepare(SQL.INSERT_FEEDBACK)
  const findFeedback = db.prepare(SQL.FIND_FEEDBACK)

  function write(feedback: Feedback): Feedback {
    if (insertFeedback.run(feedback).changes === 1) return feedback
    const stored = findFeedback.get(feedback) as Feedback
    if (!isSameFeedback(stored, feedback)) throw new ApiError('feedback_conflict', { param: 'id' })
    return stored
  }

  return {
    createFeedback: (feedback) => commit.write(() => write(feedback)),
    findPayloadPaths: (sample, signal) => reads.run('payload_paths', sample, signal),
  }
}
