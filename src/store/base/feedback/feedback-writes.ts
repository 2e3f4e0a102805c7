/** The writes of feedback, in SQLite and PostgreSQL alike: rows whose ids are taken are compared with what is stored. */
import { type Feedback, isSameFeedback } from '../../../domain/feedback/new-feedback.ts'
import { ApiError } from '../../../errors.ts'
import { type Failure, renderFailure, toReplyError } from '../../../threads/thread-failure.ts'
import type { FeedbackStore } from '../../api/feedback/feedback.ts'
import { createFeedbackTasks } from '../annotation/rule-steps.ts'
import type { Dialect } from '../db/dialect.ts'
import { all, run, type StepRuns, type Steps } from '../db/steps.ts'
import { FEEDBACK_COLUMNS, type FeedbackStatements } from './feedback.sql.ts'

/** The result of one record of a batch: the stored feedback, or why it was refused. */
interface WrittenFeedback extends Failure {
  readonly feedback?: Feedback
}

export interface FeedbackReplacement {
  readonly replaced_id: string
  readonly feedback: Feedback
}

interface FeedbackPurge {
  readonly project_id: string
  readonly ids: readonly string[]
}

interface AboutPurge {
  readonly project_id: string
  readonly feedback_type: string
  /** Refs of things. */
  readonly texts: readonly string[]
}

export function createFeedbackWrites(dialect: Dialect, statements: FeedbackStatements) {
  const insert = dialect.insertMany(
    'feedback',
    FEEDBACK_COLUMNS,
    'ON CONFLICT (project_id, id) DO NOTHING\n',
  )

  const queueFeedback = createFeedbackTasks(dialect)

  function* find(batch: readonly Feedback[]): Steps<Map<string, Feedback>> {
    const found = new Map<string, Feedback>()
    for (const [project_id, named] of Map.groupBy(batch, (feedback) => feedback.project_id)) {
      const ids = named.map(({ id }) => id)
      const rows = yield* all<Feedback>(statements.FIND_FEEDBACK, { project_id, ids })
      for (const feedback of rows) found.set(nameOf(feedback), feedback)
    }
    return found
  }

  function* write(batch: readonly Feedback[]): Steps<readonly (Feedback | ApiError)[]> {
    // In a fixed order, so that concurrent batches with the same ids cannot deadlock. The first of an id stays first.
    const ordered = batch.toSorted((one, other) => compare(nameOf(one), nameOf(other)))
    const inserted = yield* insert(ordered)
    // Also of repeats: what is queued twice is checked twice, and added once.
    yield* queueFeedback(batch)
    if (inserted === batch.length) return batch
    const stored = yield* find(batch)
    return batch.map((feedback) => {
      const known = stored.get(nameOf(feedback))
      const isSame = known !== undefined && isSameFeedback(known, feedback)
      return isSame ? known : new ApiError('feedback_conflict', { param: 'id' })
    })
  }

  function* writeOne(feedback: Feedback): Steps<Feedback> {
    const [written] = yield* write([feedback])
    if (written === undefined || written instanceof ApiError) throw written
    return written
  }

  return {
    create_feedback: writeOne,
    *create_feedback_batch(batch: readonly Feedback[]): Steps<WrittenFeedback[]> {
      const written = yield* write(batch)
      return written.map((one) =>
        one instanceof ApiError ? renderFailure(one) : { feedback: one },
      )
    },
    /** Throwing rolls back the deletion. */
    *replace_feedback({ replaced_id, feedback }: FeedbackReplacement): Steps<Feedback> {
      const { project_id } = feedback
      const deletion = { project_id, ids: [replaced_id] }
      const deleted = yield* run(statements.DELETE_FEEDBACK, deletion)
      if (deleted === 0 && (yield* find([feedback])).size === 0) {
        throw new ApiError('feedback_not_found', { param: 'feedback_id' })
      }
      return yield* writeOne(feedback)
    },
    *purge_feedback(purge: FeedbackPurge): Steps<void> {
      yield* run(statements.DELETE_FEEDBACK, purge)
    },
    *purge_about(purge: AboutPurge): Steps<void> {
      yield* run(statements.DELETE_ABOUT, purge)
    },
  }
}

export type FeedbackWrites = ReturnType<typeof createFeedbackWrites>

/** The methods of the store that write. */
type WritingMethods =
  | 'createFeedback'
  | 'createFeedbackBatch'
  | 'replaceFeedback'
  | 'purgeFeedback'
  | 'purgeAbout'

export function createWritingMethods(
  write: StepRuns<FeedbackWrites>['write'],
): Pick<FeedbackStore, WritingMethods> {
  return {
    createFeedback: (feedback) => write('create_feedback', feedback),
    async createFeedbackBatch(batch) {
      const written = await write('create_feedback_batch', batch)
      return written.map(
        ({ feedback, ...failure }) => toReplyError(failure) ?? (feedback as Feedback),
      )
    },
    replaceFeedback: (replaced_id, feedback) =>
      write('replace_feedback', { replaced_id, feedback }),
    purgeFeedback: (project_id, ids) => write('purge_feedback', { project_id, ids }),
    purgeAbout: (project_id, feedback_type, weave_refs) =>
      write('purge_about', { project_id, feedback_type, texts: weave_refs }),
  }
}

function compare(one: string, other: string): number {
  return Number(one > other) - Number(one < other)
}

/** A project's id has no line break. */
function nameOf({ project_id, id }: Pick<Feedback, 'project_id' | 'id'>): string {
  return `${project_id}\n${id}`
}
