/** Data that a walk over calls joins to them: feedback, and the values of refs. */
import type { CallJoins } from '../../../../domain/calls/call-fields.ts'
import { callRef } from '../../../../domain/calls/call-ref.ts'
import type { CallTexts } from '../../../../domain/calls/call-view.ts'
import type { CallsSelection } from '../../../../domain/calls/calls-query.ts'
import { toExpansion } from '../../../../domain/calls/expand-columns.ts'
import type { FeedbackRow } from '../../../../domain/feedback/feedback-view.ts'
import { layerPrices } from '../../../../domain/prices/project-prices.ts'
import { createRefSteps } from '../../../base/objects/ref-values.ts'
import type { Connection } from '../../db/connection.ts'
import { createStepRunner } from '../../db/run-steps.ts'
import { countFeedback, createFeedbackAboutMany } from '../../feedback/feedback-about.ts'
import { keyIn } from '../../objects/table-reads.ts'
import type { FoundKey } from './calls-walk.ts'

export function createCallJoins(
  db: Connection,
  { expanded, reach, prices }: Pick<CallsSelection, 'expanded' | 'reach' | 'prices'>,
): CallJoins & Pick<FeedbackAhead, 'expect'> {
  return {
    ...createFeedbackAhead(db, reach.refScheme),
    expanded: toExpansion(expanded),
    readRef: createRefValues(db, reach.projects),
    prices: prices && layerPrices(prices),
    payloads: new WeakMap(),
  }
}

/** Limit: rows read ahead, unless one call has more. */
const ROWS_MAX = 256
const NONE: readonly FeedbackRow[] = []

interface FeedbackAhead {
  /** Announces the next calls, in order; some may be skipped. */
  expect(keys: readonly FoundKey[]): void
  /** Returns the feedback about a call, oldest first. */
  feedbackOf(call: Pick<CallTexts, 'project_id' | 'id'>): readonly FeedbackRow[]
}

/**
 * For the calls of one project. Why ahead: one statement per call takes 23 us of CPU a call, one for many 2 us.
 *
 * @param refScheme - the URI scheme of the refs by which feedback names calls
 */
export function createFeedbackAhead(db: Connection, refScheme: string): FeedbackAhead {
  const readMany = createFeedbackAboutMany(db)
  /** The number of feedback rows by id of the call; null when too many calls have any. */
  let counts: ReadonlyMap<string, number> | null | undefined
  let coming: readonly FoundKey[] = []
  /** The index in `coming` after what was read. */
  let at = 0
  let page: ReadonlyMap<string, readonly FeedbackRow[]> = new Map()

  /** Returns the call and as many of the following ones as have ROWS_MAX rows in total. */
  function nextIds(id: string): ReadonlySet<string> {
    const ids = new Set([id])
    if (!counts) return ids
    let rows = counts.get(id) ?? 0
    while (at < coming.length) {
      const [, , next] = coming[at] as FoundKey
      rows += ids.has(next) ? 0 : (counts.get(next) ?? 0)
      if (rows > ROWS_MAX) break
      if (counts.has(next)) ids.add(next)
      at += 1
    }
    return ids
  }

  return {
    expect(keys) {
      coming = keys
      at = 0
    },
    feedbackOf({ project_id, id }) {
      const known = page.get(id)
      if (known) return known
      const start = callRef(refScheme, project_id, '')
      if (counts === undefined) counts = countFeedback(db, project_id, start)
      if (counts !== null && !counts.has(id)) return NONE
      const ids = [...nextIds(id)]
      const about = readMany(
        project_id,
        ids.map((one) => start + one),
      )
      page = new Map(ids.map((one) => [one, about.get(start + one) ?? NONE]))
      return page.get(id) ?? NONE
    },
  }
}

/** Limit: refs with cached values; the cache is cleared when it is full. */
const CACHED_REFS_MAX = 100_000

/**
 * @param projects - patterns of the projects that may be read
 * @returns a function that returns the value of a ref, as createRefSteps does, and keeps it
 */
function createRefValues(db: Connection, projects: readonly string[]): (ref: string) => unknown {
  const run = createStepRunner(db)
  const values = new Map<string, unknown>()
  const read = createRefSteps({ projects, keyIn, onClear: () => values.clear() })
  return (ref) => {
    if (values.has(ref)) return values.get(ref)
    const value = run(read(ref))
    if (values.size === CACHED_REFS_MAX) values.clear()
    values.set(ref, value)
    return value
  }
}
