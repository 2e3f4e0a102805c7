/** What every CallsQueryStore must do with pages that are sorted by latency, which are read within a bound. */
import { describe, expect, it } from 'vitest'
import { resolveCallsSelection, resolveCallsShape } from '../../../src/domain/calls/calls-query.ts'
import type { CallStore, CallsQueryStore } from '../../../src/store/api/calls/calls.ts'
import { endOf, startOf } from '../../store/calls/call-store-contract.ts'
import { readCaller } from '../../support/read-caller.ts'

interface ListedStores {
  readonly calls: CallStore
  readonly callsQuery: CallsQueryStore
}

const project_id = 'acme/demo'
const CALLS = 40

/** Latencies of 0 to 4 ms, each of several calls; every tenth call runs. */
const latencyOf = (n: number) => (n % 10 === 9 ? null : (n * 7) % 5)
const idOf = (n: number) => `c${String((n * 17) % CALLS).padStart(2, '0')}`
const opOf = (n: number) => (n % 3 === 0 ? 'x' : 'y')
const isoAt = (ms: number) => new Date(Date.UTC(2026, 0, 1) + ms).toISOString()

/** Half of the calls come whole, the others in two parts. The calls 4 and 8 are deleted. */
async function fill({ calls }: ListedStores): Promise<void> {
  const all = Array.from({ length: CALLS }, (_, n) => {
    const latency = latencyOf(n)
    const start = startOf({ id: idOf(n), op_name: opOf(n), started_at: isoAt(n) })
    const end = latency === null ? null : endOf({ id: idOf(n), ended_at: isoAt(n + latency) })
    return { start, end, isWhole: n % 2 === 0 }
  })
  await calls.writeParts(
    all.map(({ start, end, isWhole }) => ({ start, end: isWhole ? end : null })),
  )
  await calls.writeParts(all.flatMap(({ end, isWhole }) => (isWhole ? [] : [{ start: null, end }])))
  await calls.deleteCalls({ project_id, ids: [idOf(4), idOf(8)], deleted_at_us: 1 })
}

function expectedIds(direction: 'asc' | 'desc', op: string | null): string[] {
  const sign = direction === 'asc' ? 1 : -1
  const rank = (n: number) => {
    const latency = latencyOf(n)
    return latency === null ? Number.POSITIVE_INFINITY : sign * latency
  }
  return Array.from({ length: CALLS }, (_, n) => n)
    .filter((n) => n !== 4 && n !== 8 && (op === null || opOf(n) === op))
    .sort((one, other) => rank(one) - rank(other) || (idOf(one) < idOf(other) ? 1 : -1))
    .map(idOf)
}

/** @param create - empty stores that close themselves when the test ends */
export function describeCallsLatencyContract(
  name: string,
  create: () => Promise<ListedStores>,
): void {
  describe(`${name} lists calls by latency`, () => {
    it('has equal latencies by id, running calls last and no deleted ones, on every page', async () => {
      const stores = await create()
      await fill(stores)
      for (const [direction, op, offset, limit] of PAGES) {
        const all = expectedIds(direction, op)
        const selection = resolveCallsSelection({
          project_id,
          filter: op === null ? null : { op_names: [op] },
          sort_by: [{ field: 'summary.weave.latency_ms', direction }],
          offset,
          limit,
        })
        const found: string[] = []
        const shape = resolveCallsShape({ project_id })
        for await (const page of stores.callsQuery.pages(selection, shape, readCaller())) {
          found.push(...page.map(({ call }) => call.id))
        }
        const expected = all.slice(offset, limit === null ? undefined : offset + limit)
        expect([direction, op, offset, found]).toEqual([direction, op, offset, expected])
      }
    })
  })
}

/** Some end within the calls with a latency, one among those that run, the last ones behind all. */
const PAGES = [
  ['asc', null, 0, 7],
  ['desc', null, 8, 3],
  ['asc', null, 30, 20],
  ['desc', null, 30, 20],
  ['desc', 'x', 0, 5],
  ['asc', 'x', 2, 2],
  ['desc', null, 0, null],
] as const
