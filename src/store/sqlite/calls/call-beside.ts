/** What a walk over calls reads beside them: feedback, and the values of refs. */
import type { CallBeside } from '../../../domain/calls/call-fields.ts'
import type { CallTexts } from '../../../domain/calls/call-view.ts'
import type { CallsSelection } from '../../../domain/calls/calls-query.ts'
import { toExpansion } from '../../../domain/calls/expand-columns.ts'
import type { FeedbackRow } from '../../../domain/feedback/feedback-view.ts'
import type { Connection } from '../db/connection.ts'
import { SELECT_FEEDBACK_ABOUT } from '../feedback/feedback.sql.ts'
import { createRefValues } from '../objects/ref-values.ts'

/** Limit: feedback of one call that a condition looks at, the newest. */
const FEEDBACK_MAX = 1000

export function createCallBeside(
  db: Connection,
  { expanded, reach }: Pick<CallsSelection, 'expanded' | 'reach'>,
): CallBeside {
  const findFeedback = db.prepare(SELECT_FEEDBACK_ABOUT)
  let last: { readonly call: CallTexts; readonly rows: readonly FeedbackRow[] } | null = null
  return {
    expanded: toExpansion(expanded),
    readRef: createRefValues(db, reach.projects),
    payloads: new WeakMap(),
    feedbackOf(call) {
      if (last?.call === call) return last.rows
      const { project_id, id } = call
      const weave_ref = `${reach.refScheme}:///${project_id}/call/${id}`
      const found = findFeedback.all({ project_id, weave_ref, limit: FEEDBACK_MAX })
      last = { call, rows: (found as FeedbackRow[]).reverse() }
      return last.rows
    },
  }
}
