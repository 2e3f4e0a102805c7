/** The writes of feedback: rows whose ids are taken are compared with what is stored. */
import { type Feedback, isSameFeedback } from '../../../domain/feedback/new-feedback.ts'
import { ApiError } from '../../../errors.ts'
import type { FeedbackStore } from '../../api/feedback/feedback.ts'
import type { Postgres, Statements } from '../db/client.ts'
import { toRows, wellFormed } from '../db/rows.sql.ts'
import * as SQL from './feedback.sql.ts'

type Named = Pick<Feedback, 'project_id' | 'id'>

export function createFeedbackWrites(
  db: Postgres,
): Pick<FeedbackStore, 'createFeedbackBatch' | 'replaceFeedback' | 'purgeFeedback'> {
  return {
    createFeedbackBatch: (batch) => db.transaction((tx) => write(tx, batch.map(wellFormed))),
    replaceFeedback: (replacedId, feedback) =>
      db.transaction(async (tx) => {
        const { project_id } = feedback
        // In a fixed order, so that concurrent replacements of each other's ids cannot deadlock.
        const ids = [replacedId, feedback.id].sort()
        await tx.all(SQL.LOCK_IDS, { project_id, ids })
        const deleted = await tx.run(SQL.DELETE_FEEDBACK, { project_id, ids: [replacedId] })
        if (deleted === 0 && (await find(tx, [feedback])).size === 0) {
          throw new ApiError('feedback_not_found', { param: 'feedback_id' })
        }
        const [written] = await write(tx, [wellFormed(feedback)])
        // Throwing rolls back the deletion.
        if (written === undefined || written instanceof ApiError) throw written
        return written
      }),
    async purgeFeedback(project_id, ids) {
      await db.transaction((tx) => tx.run(SQL.DELETE_FEEDBACK, { project_id, ids }))
    },
  }
}

async function write(
  tx: Statements,
  batch: readonly Feedback[],
): Promise<readonly (Feedback | ApiError)[]> {
  // In a fixed order, so that concurrent batches with the same ids cannot deadlock.
  const ordered = batch.toSorted((one, other) => byName(nameOf(one), nameOf(other)))
  const inserted = await tx.all<Named>(SQL.INSERT_FEEDBACK, { rows: toRows(ordered) })
  const fresh = new Set(inserted.map(nameOf))
  const stored =
    inserted.length === batch.length ? new Map<string, Feedback>() : await find(tx, batch)
  return batch.map((feedback) => {
    const name = nameOf(feedback)
    // The first item with an id was stored; later ones are compared with it.
    if (fresh.delete(name)) return feedback
    const known = stored.get(name)
    if (known !== undefined && isSameFeedback(known, feedback)) return known
    return new ApiError('feedback_conflict', { param: 'id' })
  })
}

async function find(tx: Statements, names: readonly Named[]): Promise<Map<string, Feedback>> {
  const found = await tx.all<Feedback>(SQL.FIND_FEEDBACK, {
    project_ids: names.map(({ project_id }) => project_id),
    ids: names.map(({ id }) => id),
  })
  return new Map(found.map((feedback) => [nameOf(feedback), feedback]))
}

function byName(one: string, other: string): number {
  return Number(one > other) - Number(one < other)
}

/** A project's id has no line break. */
function nameOf({ project_id, id }: Named): string {
  return `${project_id}\n${id}`
}
