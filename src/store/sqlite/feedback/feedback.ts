/** Feedback in SQLite. Payloads are never read on the connection that writes, see payload-paths.ts. */
import { type Feedback, isSameFeedback } from '../../../domain/feedback/new-feedback.ts'
import { ApiError } from '../../../errors.ts'
import type { FeedbackStore } from '../../api/feedback.ts'
import type { Connection } from '../db/connection.ts'
import type { ReadPool } from '../read/read-pool.ts'
import type { GroupCommit } from '../write/group-commit.ts'
import * as SQL from './feedback.sql.ts'

export function createFeedbackStore(
  db: Connection,
  commit: GroupCommit,
  reads: ReadPool,
): FeedbackStore {
  const insertFeedback = db.prepare(SQL.INSERT_FEEDBACK)
  const findFeedback = db.prepare(SQL.FIND_FEEDBACK)
  const deleteFeedback = db.prepare(SQL.DELETE_FEEDBACK)

  function write(feedback: Feedback): Feedback {
    if (insertFeedback.run(feedback).changes === 1) return feedback
    const stored = findFeedback.get(feedback) as Feedback
    if (!isSameFeedback(stored, feedback)) throw new ApiError('feedback_conflict', { param: 'id' })
    return stored
  }

  function writeAlone(feedback: Feedback): Feedback | ApiError {
    try {
      return write(feedback)
    } catch (error) {
      // A conflict has written nothing; anything else fails the whole batch.
      if (error instanceof ApiError) return error
      throw error
    }
  }

  function replace(replacedId: string, feedback: Feedback): Feedback {
    const { project_id } = feedback
    if (deleteFeedback.run({ project_id, id: replacedId }).changes === 0) {
      if (findFeedback.get(feedback) === undefined) {
        throw new ApiError('feedback_not_found', { param: 'feedback_id' })
      }
    }
    return write(feedback)
  }

  return {
    createFeedback: (feedback) => commit.write(() => write(feedback)),
    createFeedbackBatch: (batch) => commit.write(() => batch.map(writeAlone)),
    replaceFeedback: (replacedId, feedback) => commit.write(() => replace(replacedId, feedback)),
    purgeFeedback: (project_id, ids) =>
      commit.write(() => {
        for (const id of ids) deleteFeedback.run({ project_id, id })
      }),
    queryFeedback: (project_id, query, signal) =>
      reads.run('feedback_query', { project_id, query }, signal),
    findPayloadPaths: (sample, signal) => reads.run('payload_paths', sample, signal),
  }
}
