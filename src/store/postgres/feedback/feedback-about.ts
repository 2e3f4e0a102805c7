/** Reads the feedback on many refs at once. */
import type { Feedback } from '../../../domain/feedback/new-feedback.ts'
import { FEEDBACK_ABOUT_MAX } from '../../api/feedback/feedback.ts'
import type { Statements } from '../db/client.ts'
import { SELECT_ABOUT } from './feedback.sql.ts'

/** Limit: refs of one statement. */
const THINGS_MAX = 100

/**
 * @param checkpoint - called before each statement
 * @returns for each ref, in order, the newest feedback on it, oldest first
 */
export async function readAbout(
  db: Pick<Statements, 'all'>,
  project_id: string,
  weave_refs: readonly string[],
  checkpoint: () => void,
): Promise<Feedback[][]> {
  const found: Feedback[][] = weave_refs.map(() => [])
  for (let from = 0; from < weave_refs.length; from += THINGS_MAX) {
    checkpoint()
    const part = weave_refs.slice(from, from + THINGS_MAX)
    const parameters = { project_id, weave_refs: part, rows_max: FEEDBACK_ABOUT_MAX }
    const rows = await db.all<Feedback & { place: number }>(SELECT_ABOUT, parameters)
    for (const { place, ...row } of rows) found[from + place - 1]?.push(row)
  }
  return found
}
