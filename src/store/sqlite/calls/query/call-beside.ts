/** What a walk over calls reads beside them: feedback, and the values of refs. */
import type { CallBeside } from '../../../../domain/calls/call-fields.ts'
import { callRef } from '../../../../domain/calls/call-ref.ts'
import type { CallTexts } from '../../../../domain/calls/call-view.ts'
import type { CallsSelection } from '../../../../domain/calls/calls-query.ts'
import { toExpansion } from '../../../../domain/calls/expand-columns.ts'
import type { FeedbackRow } from '../../../../domain/feedback/feedback-view.ts'
import { layerPrices } from '../../../../domain/prices/project-prices.ts'
import type { Connection } from '../../db/connection.ts'
import { createFeedbackAbout, findJudged } from '../../feedback/feedback-about.ts'
import { createRefValues } from '../../objects/ref-values.ts'

export function createCallBeside(
  db: Connection,
  { expanded, reach, prices }: Pick<CallsSelection, 'expanded' | 'reach' | 'prices'>,
): CallBeside {
  const feedbackAbout = createFeedbackAbout(db)
  /** Refs of calls that have feedback; null where there are too many. */
  let judged: ReadonlySet<string> | null | undefined
  let last: { readonly call: CallTexts; readonly rows: readonly FeedbackRow[] } | null = null
  return {
    expanded: toExpansion(expanded),
    readRef: createRefValues(db, reach.projects),
    prices: prices && layerPrices(prices),
    payloads: new WeakMap(),
    feedbackOf(call) {
      if (last?.call === call) return last.rows
      const { project_id, id } = call
      const start = callRef(reach.refScheme, project_id, '')
      if (judged === undefined) judged = findJudged(db, project_id, start)
      if (judged !== null && !judged.has(start + id)) return []
      const rows = feedbackAbout(project_id, start + id)
      last = { call, rows }
      return rows
    },
  }
}
