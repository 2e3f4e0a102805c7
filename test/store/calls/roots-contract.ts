/** What stores of calls must do about roots: also those whose parent is not stored. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { resolveCallsSelection, resolveCallsShape } from '../../../src/domain/calls/calls-query.ts'
import type { CallParts } from '../../../src/domain/calls/new-call.ts'
import { toColumns } from '../../../src/domain/stats/metric-names.ts'
import type { CallStore, CallsQueryStore } from '../../../src/store/api/calls/calls.ts'
import type { StatsStore } from '../../../src/store/api/stats/stats.ts'
import { readCaller } from '../../support/read-caller.ts'
import { endOf, startOf } from './call-store-contract.ts'

interface RootsStores {
  readonly calls: CallStore
  readonly callsQuery: CallsQueryStore
  readonly stats: StatsStore
}

const BASE_US = Date.UTC(2026, 0, 1) * 1000
const HOUR_US = 3_600_000_000
const CALLS = 6

/** What is sent: parts in batches, and deletions of some ids. */
type Step =
  | { readonly batch: readonly (readonly [call: number, part: string])[] }
  | { readonly gone: readonly number[] }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      batch: fc.array(fc.tuple(fc.nat(CALLS - 1), fc.constantFrom('start', 'end', 'whole')), {
        minLength: 1,
        maxLength: 5,
      }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ gone: fc.array(fc.nat(CALLS - 1), { maxLength: 2 }) }) },
)

const world = fc.record({
  /** The parent of each call; CALLS: one that is never sent. */
  parents: fc.array(fc.option(fc.nat(CALLS)), { minLength: CALLS, maxLength: CALLS }),
  steps: fc.array(step, { maxLength: 10 }),
})
type World = typeof world extends fc.Arbitrary<infer Value> ? Value : never

/** The calls that are stored and neither deleted nor below a stored one. */
function naiveRoots({ parents, steps }: World): string[] {
  const started = new Set<number>()
  const known = new Set<number>()
  const deleted = new Set<number>()
  for (const one of steps) {
    if ('batch' in one) {
      for (const [call, part] of one.batch) {
        known.add(call)
        if (part !== 'end') started.add(call)
      }
      continue
    }
    const doomed = new Set(one.gone.filter((call) => known.has(call)))
    // Only a started call names its parent.
    for (const above of doomed) {
      for (const call of started) if (parents[call] === above) doomed.add(call)
    }
    for (const call of doomed) deleted.add(call)
  }
  const isLive = (call: number) => started.has(call) && !deleted.has(call)
  return [...started]
    .filter(isLive)
    .filter((call) => parents[call] === null || !isLive(parents[call] as number))
    .map((call) => `c${call}`)
    .sort()
}

async function play({ calls }: RootsStores, project_id: string, { parents, steps }: World) {
  const partsOf = (call: number, part: string): CallParts => {
    const parent = parents[call]
    const parent_id = typeof parent === 'number' ? `c${parent}` : null
    const started_at = new Date((BASE_US + (call % 3) * HOUR_US) / 1000).toISOString()
    const start = startOf({ project_id, id: `c${call}`, parent_id, started_at, trace_id: 't' })
    const end = endOf({ project_id, id: `c${call}`, ended_at: '2026-01-02T00:00:00Z' })
    return { start: part === 'end' ? null : start, end: part === 'start' ? null : end }
  }
  for (const one of steps) {
    if ('batch' in one) await calls.writeParts(one.batch.map(([call, part]) => partsOf(call, part)))
    else
      await calls.deleteCalls({ project_id, ids: one.gone.map((n) => `c${n}`), deleted_at_us: 1 })
  }
}

async function listRoots({ callsQuery }: RootsStores, project_id: string): Promise<string[]> {
  const request = { project_id, filter: { trace_roots_only: true } }
  const found: string[] = []
  const shape = resolveCallsShape({ project_id })
  for await (const page of callsQuery.pages(resolveCallsSelection(request), shape, readCaller())) {
    found.push(...page.map(({ call }) => call.id))
  }
  return found.sort()
}

async function countRoots({ stats }: RootsStores, project_id: string): Promise<number> {
  const columns = toColumns([
    { metric: 'call_count' as const, aggregations: ['sum' as const], percentiles: [] },
  ])
  const { calls } = await stats.aggregate(
    {
      project_id,
      filter: { trace_roots_only: true },
      startUs: BASE_US,
      endUs: BASE_US + 24 * HOUR_US,
      startsUs: new Float64Array([BASE_US]),
      callColumns: columns,
      usageColumns: [],
      prices: [],
      counting: 'own',
      valuesMax: 100,
    },
    readCaller(),
  )
  return calls?.values[0]?.[0] ?? 0
}

/** @param runs - of the property */
export function describeRootsContract(
  name: string,
  create: () => Promise<RootsStores>,
  runs: number,
): void {
  describe(`${name} knows the roots`, () => {
    it('lists and counts a call as a root until its parent arrives', async () => {
      const stores = await create()
      const project_id = 'acme/demo'
      const at = { project_id, trace_id: 't', started_at: '2026-01-01T00:00:00Z' }
      await stores.calls.startCall(startOf({ ...at, id: 'child', parent_id: 'top' }))
      await stores.calls.endCall(endOf({ id: 'child' }))
      expect(await listRoots(stores, project_id)).toEqual(['child'])
      expect(await countRoots(stores, project_id)).toBe(1)
      await stores.calls.startCall(startOf({ ...at, id: 'top' }))
      expect(await listRoots(stores, project_id)).toEqual(['top'])
      expect(await countRoots(stores, project_id)).toBe(1)
    })

    it('lists and counts as roots what is not below a stored call, whatever comes when', async () => {
      const stores = await create()
      let run = 0
      await fc.assert(
        fc.asyncProperty(world, async (one) => {
          run += 1
          const project_id = `acme/p${run}`
          await play(stores, project_id, one)
          const expected = naiveRoots(one)
          expect(await listRoots(stores, project_id)).toEqual(expected)
          expect(await countRoots(stores, project_id)).toBe(expected.length)
        }),
        { numRuns: runs },
      )
    })
  })
}
