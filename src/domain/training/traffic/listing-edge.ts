/** Finds the end of a limited list of calls, and the rollouts that continue beyond it. Pure. */
import type { RolloutUnit } from '../../../schemas/training/trajectory-from-calls.ts'
import type { CallTexts } from '../../calls/call-view.ts'
import type { CallsSelection } from '../../calls/calls-query.ts'

interface ListingEdge {
  /** Takes the calls of the list. */
  add(call: CallTexts): void
  /** The calls of its rollouts from its oldest call back; null when the list cannot have cut any. */
  beyond(): CallsSelection | null
  /** Takes the calls of that, in any order; true when nothing further can be learned from them. */
  addBeyond(calls: readonly CallTexts[]): boolean
  /** The rollouts that have calls beyond the list. */
  cut(): ReadonlySet<string>
}

const FILTER_OF = { trace_id: 'trace_ids', thread_id: 'thread_ids' } as const

/** @param selection - of the list: newest first, with a limit */
export function createListingEdge(selection: CallsSelection, unit: RolloutUnit): ListingEdge {
  const calls = new Set<string>()
  const rollouts = new Set<string>()
  const cut = new Set<string>()
  let oldestUs = selection.startedUs.to

  const rolloutOf = (call: CallTexts): string | null => (unit === 'call' ? null : call[unit])

  return {
    add(call) {
      calls.add(call.id)
      const rollout = rolloutOf(call)
      if (rollout !== null) rollouts.add(rollout)
      oldestUs = Math.min(oldestUs, call.started_at_us)
    },
    beyond() {
      if (unit === 'call' || rollouts.size === 0 || calls.size < selection.limit) return null
      return {
        ...selection,
        filter: { ...selection.filter, [FILTER_OF[unit]]: [...rollouts] },
        // Inclusive, since other calls may have started at the same time.
        startedUs: { ...selection.startedUs, to: oldestUs },
        limit: Number.POSITIVE_INFINITY,
      }
    },
    addBeyond(found) {
      for (const call of found) {
        const rollout = rolloutOf(call)
        if (rollout !== null && !calls.has(call.id)) cut.add(rollout)
      }
      return cut.size === rollouts.size
    },
    cut: () => cut,
  }
}
