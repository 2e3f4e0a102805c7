/** What lists of calls read beside the calls, where that lies in PostgreSQL: for some calls at once, before they are asked. */
import type { CallBeside } from '../../../domain/calls/call-fields.ts'
import { callRef } from '../../../domain/calls/call-ref.ts'
import type { FeedbackRow } from '../../../domain/feedback/feedback-view.ts'
import type { BesideReader } from '../../sqlite/calls/call-beside.ts'
import type { NodeStores } from '../../sqlite/open.ts'
import { toLeft } from '../../sqlite/read/read-turns.ts'
import type { Statements } from '../db/client.ts'
import { readAbout } from '../feedback/feedback-about.ts'

/** @param node - where the values of refs lie */
export function createBesideOf(
  db: Pick<Statements, 'all'>,
  node: Pick<NodeStores, 'besideOf'>,
): NodeStores['besideOf'] {
  return (selection) => {
    const { refScheme } = selection.reach
    const ofNode = node.besideOf(selection)
    let about: ReadonlyMap<string, readonly FeedbackRow[]> = new Map()
    const beside: CallBeside = {
      ...ofNode.beside,
      feedbackOf: ({ project_id, id }) => about.get(callRef(refScheme, project_id, id)) ?? [],
    }
    const prepare: BesideReader['prepare'] = async (calls, paths, caller) => {
      await ofNode.prepare(calls, paths, caller)
      const [first] = calls
      if (first === undefined || !paths.some(([field]) => field === 'feedback')) return
      const { project_id } = first.call
      const refs = calls.map(({ call }) => callRef(refScheme, project_id, call.id))
      const found = await readAbout(db, project_id, refs, () => {
        if (caller.signal.aborted) throw toLeft(caller.signal)
      })
      about = new Map(refs.map((ref, at) => [ref, found[at] ?? []]))
    }
    return { beside, prepare }
  }
}
