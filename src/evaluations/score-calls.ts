/** Scores of stored calls, as feedback about them. */
import { callRef } from '../domain/calls/call-ref.ts'
import { toScoredSubject } from '../domain/evaluators/subject.ts'
import { layerPrices } from '../domain/prices/project-prices.ts'
import type { JsonObject } from '../schemas/primitives.ts'
import { type NamedScorer, readScorers } from './plan.ts'
import { idOf } from './run-calls.ts'
import {
  forEach,
  type JobContext,
  type JobRunOptions,
  planOptions,
  scoreAll,
  type WorkOf,
} from './scoring.ts'

/** @returns how many scores there are, and how many failed */
export async function runScores(
  { call_ids, scorer_refs }: WorkOf<'score'>,
  context: JobContext,
  options: JobRunOptions,
): Promise<JsonObject> {
  const { job, caller, calls, signal, onRow } = context
  const { project_id } = job
  const { stores, refScheme } = options
  const scorers = await readScorers(
    scorer_refs,
    { caller, project_id },
    planOptions(options),
    'scorer_refs',
  )
  const table = layerPrices(await stores.prices.listPrices(project_id))
  let [scored, failed] = [0, 0]

  /** Scorers without a score of an earlier attempt. */
  async function findWaiting(id: string): Promise<readonly NamedScorer[]> {
    if (job.attempts === 1) return scorers
    const reader = { keyId: caller.keyId, project_id, signal }
    const [rows = []] = await stores.feedback.listAbout(
      [callRef(refScheme, project_id, id)],
      reader,
    )
    const ids = new Set(rows.map((row) => row.id))
    return scorers.filter(({ ref }) => !ids.has(idOf(job.id, 'feedback', id, ref)))
  }

  await forEach(call_ids.length, signal, async (index) => {
    const id = call_ids[index] ?? ''
    const call = await stores.calls.findCall(project_id, id)
    if (call === null || call.ended_at_us === null) failed += scorers.length
    else {
      const waiting = await findWaiting(id)
      const subject = toScoredSubject(call, table)
      const results = await scoreAll(waiting, { subject, prediction_id: id }, context, options)
      const made = results.filter((result) => result.output !== null)
      await calls.storeFeedback(
        id,
        made.map((result) => ({ ...result, call_id: null })),
      )
      scored += made.length + scorers.length - waiting.length
      failed += results.length - made.length
    }
    onRow()
  })
  return { scored, failed }
}
