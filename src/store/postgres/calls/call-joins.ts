/** Prefetches what lists of calls read besides the calls from PostgreSQL, for several calls at once. */
import { requireWaiting } from '../../../domain/access/read-caller.ts'
import { type CallJoins, callField } from '../../../domain/calls/call-fields.ts'
import { callRef } from '../../../domain/calls/call-ref.ts'
import { toExpansion } from '../../../domain/calls/expand-columns.ts'
import type { FeedbackRow } from '../../../domain/feedback/feedback-view.ts'
import { layerPrices } from '../../../domain/prices/project-prices.ts'
import type { JoinReader, NodeStores } from '../../base/node-stores.ts'
import { createRefSteps } from '../../base/objects/ref-values.ts'
import type { Statements } from '../db/client.ts'
import { runSteps } from '../db/run-steps.ts'
import { readAbout } from '../feedback/feedback-about.ts'
import { keyIn } from '../objects/tables.ts'

/** Limit: refs with cached values; then the cache is cleared. */
const CACHED_REFS_MAX = 100_000

type Prepare = JoinReader['prepare']

export function createJoinedDataOf(db: Statements): NodeStores['joinedDataOf'] {
  return ({ expanded, reach: { refScheme, projects }, prices }) => {
    /** Whether contents were released: their values follow, but not before the calls that need them are done. */
    let isReleased = false
    const onClear = () => {
      isReleased = true
    }
    const readValue = createRefSteps({ projects, keyIn, onClear })
    const values = new Map<string, unknown>()
    /** Refs that were requested and are not read yet. */
    const missing = new Set<string>()
    let about: ReadonlyMap<string, readonly FeedbackRow[]> = new Map()
    const beside: CallJoins = {
      expanded: toExpansion(expanded),
      readRef(ref) {
        if (!values.has(ref)) missing.add(ref)
        return values.get(ref)
      },
      prices: prices && layerPrices(prices),
      payloads: new WeakMap(),
      feedbackOf: ({ project_id, id }) => about.get(callRef(refScheme, project_id, id)) ?? [],
    }

    const readFeedback: Prepare = async (calls, paths, { signal }) => {
      const [first] = calls
      if (first === undefined || !paths.some(([field]) => field === 'feedback')) return
      const { project_id } = first.call
      const refs = calls.map(({ call }) => callRef(refScheme, project_id, call.id))
      const found = await readAbout(db, project_id, refs, () => requireWaiting(signal))
      about = new Map(refs.map((ref, at) => [ref, found[at] ?? []]))
    }

    /** Each round evaluates the fields and reads the refs found there: a value may contain further refs. */
    const readRefs: Prepare = async (calls, paths, { signal }) => {
      if (beside.expanded === null) return
      if (isReleased || values.size > CACHED_REFS_MAX) values.clear()
      isReleased = false
      do {
        missing.clear()
        for (const call of calls) for (const path of paths) callField(call, path)
        for (const ref of missing) {
          requireWaiting(signal)
          values.set(ref, await runSteps(db, readValue(ref)))
        }
      } while (missing.size > 0)
    }

    return {
      beside,
      async prepare(calls, paths, caller) {
        await readFeedback(calls, paths, caller)
        await readRefs(calls, paths, caller)
      },
    }
  }
}
