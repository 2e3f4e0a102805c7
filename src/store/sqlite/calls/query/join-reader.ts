/** Data that walks over the calls of another store read from this one: feedback and the values of refs. */
import { callRef } from '../../../../domain/calls/call-ref.ts'
import type { CallsSelection } from '../../../../domain/calls/calls-query.ts'
import type { FeedbackRow } from '../../../../domain/feedback/feedback-view.ts'
import type { JoinReader } from '../../../base/node-stores.ts'
import type { Connection } from '../../db/connection.ts'
import type { ReadPool } from '../../read/read-pool.ts'
import { createCallJoins } from './call-joins.ts'

/** A reader fetches feedback in pages. Other feedback, and values of refs, are read on demand on this thread. */
export function createJoinReader(
  db: Connection,
  reads: ReadPool,
  selection: Pick<CallsSelection, 'expanded' | 'reach' | 'prices'>,
): JoinReader {
  const asked = createCallJoins(db, selection)
  const { refScheme } = selection.reach
  let page: ReadonlyMap<string, readonly FeedbackRow[]> = new Map()
  return {
    beside: { ...asked, feedbackOf: (call) => page.get(call.id) ?? asked.feedbackOf(call) },
    async prepare(calls, paths, caller) {
      page = new Map()
      const [first] = calls
      if (first === undefined || !paths.some(([field]) => field === 'feedback')) return
      const { project_id } = first.call
      const refs = calls.map(({ call }) => callRef(refScheme, project_id, call.id))
      const found = await reads.run('feedback_about', { project_id, refs }, caller)
      page = new Map(found.map((rows, at) => [calls[at]?.call.id ?? '', rows]))
    },
  }
}
