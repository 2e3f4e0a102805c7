/** The writes of feedback. */
import { type Feedback, isSameFeedback } from '../../../domain/feedback/new-feedback.ts'
import { ApiError } from '../../../errors.ts'
import { type Failure, renderFailure } from '../../base/db/thread-failure.ts'
import type { Connection } from '../db/connection.ts'
import * as SQL from './feedback.sql.ts'

/** The result of one record of a batch: the stored feedback, or why it was refused. */
export interface WrittenFeedback extends Failure {
  readonly feedback?: Feedback
}

interface FeedbackReplacement {
  readonly replaced_id: string
  readonly feedback: Feedback
}

interface FeedbackPurge {
  readonly project_id: string
  readonly ids: readonly string[]
}

export function createFeedbackWrites(db: Connection) {
  const insertFeedback = db.prepare(SQL.INSERT_FEEDBACK)
  const findFeedback = db.prepare(SQL.FIND_FEEDBACK)
  const deleteFeedback = db.prepare(SQL.DELETE_FEEDBACK)

  function write(feedback: Feedback): Feedback {
    if (insertFeedback.run(feedback).changes === 1) return feedback
    const stored = findFeedback.get(feedback) as Feedback
    if (!isSameFeedback(stored, feedback)) throw new ApiError('feedback_conflict', { param: 'id' })
    return stored
  }

  function writeAlone(feedback: Feedback): WrittenFeedback {
    try {
      return { feedback: write(feedback) }
    } catch (error) {
      // A conflict has written nothing; anything else fails the whole batch.
      if (error instanceof ApiError) return renderFailure(error)
      throw error
    }
  }

  return {
    create_feedback: write,
    create_feedback_batch: (batch: readonly Feedback[]) => batch.map(writeAlone),
    replace_feedback({ replaced_id, feedback }: FeedbackReplacement): Feedback {
      const { project_id } = feedback
      if (deleteFeedback.run({ project_id, id: replaced_id }).changes === 0) {
        if (findFeedback.get(feedback) === undefined) {
          throw new ApiError('feedback_not_found', { param: 'feedback_id' })
        }
      }
      return write(feedback)
    },
    purge_feedback({ project_id, ids }: FeedbackPurge): void {
      for (const id of ids) deleteFeedback.run({ project_id, id })
    },
  }
}
