/** What every CallRemoval must do, whatever calls lie in. */
import { describe, expect, it } from 'vitest'
import { resolveCallsSelection, resolveCallsShape } from '../../../src/domain/calls/calls-query.ts'
import { toColumns } from '../../../src/domain/stats/metric-names.ts'
import type { CallRemoval, CallStore, CallsQueryStore } from '../../../src/store/api/calls/calls.ts'
import type { StatsStore } from '../../../src/store/api/stats/stats.ts'
import { readCaller } from '../../support/read-caller.ts'
import { expireAll } from '../support/expire-all.ts'
import { endOf, startOf } from './call-store-contract.ts'

interface RemovalStores {
  readonly calls: CallStore
  readonly callsQuery: CallsQueryStore
  readonly stats: StatsStore
  readonly removal: CallRemoval
}

const project_id = 'acme/demo'
const HOUR_US = 3600e6
const BASE_US = Date.UTC(2026, 0, 1) * 1000
/** A time in so many hours. */
const at = (hours: number) => new Date((BASE_US + hours * HOUR_US) / 1000).toISOString()
const never = () => new AbortController().signal

function callAt(id: string, hours: number, fields: object = {}, usage: object = {}) {
  return {
    start: startOf({ id, trace_id: 't', started_at: at(hours), ...fields }),
    end: endOf({ id, ended_at: at(hours + 0.01), summary: { usage }, ...fields }),
  }
}

async function idsOf({ callsQuery }: RemovalStores, project = project_id): Promise<string[]> {
  const ids: string[] = []
  const selection = resolveCallsSelection({ project_id: project })
  const shape = resolveCallsShape({ project_id: project })
  for await (const page of callsQuery.pages(selection, shape, readCaller())) {
    for (const { call } of page) ids.push(call.id)
  }
  return ids.sort()
}

/** Calls, then input tokens of the model, in each of four hours. */
async function sumsOf({ stats }: RemovalStores): Promise<number[][]> {
  const { calls, usage } = await stats.aggregate(
    {
      project_id,
      filter: {},
      prices: [],
      counting: 'own',
      valuesMax: 100,
      startUs: BASE_US,
      endUs: BASE_US + 4 * HOUR_US,
      startsUs: Float64Array.from([0, 1, 2, 3], (hour) => BASE_US + hour * HOUR_US),
      callColumns: toColumns([{ metric: 'call_count', aggregations: ['sum'], percentiles: [] }]),
      usageColumns: toColumns([{ metric: 'input_tokens', aggregations: ['sum'], percentiles: [] }]),
    },
    readCaller(),
  )
  return [...(calls?.values ?? []), ...usage.flatMap(({ table }) => table.values)].map((values) => [
    ...values,
  ])
}

interface Differences {
  /** Why a call that began after one below it counts that one's usage, too, when that has left; null: it does not. */
  readonly laterParents: string | null
}

/** @param create - empty stores that close themselves when the test ends */
export function describeCallRemovalContract(
  name: string,
  create: () => Promise<RemovalStores>,
  differences: Differences = { laterParents: null },
) {
  describeDeleted(name, create)
  describeExpiry(name, create, differences)
}

function describeDeleted(name: string, create: () => Promise<RemovalStores>): void {
  describe(`${name} frees deleted calls`, () => {
    it('once, and leaves the others as they are', async () => {
      const stores = await create()
      await stores.calls.writeParts(['a', 'b', 'c'].map((id) => callAt(id, 0)))
      await stores.calls.deleteCalls({ project_id, ids: ['a', 'b'], deleted_at_us: 1 })
      await expect(stores.removal.removeDeleted(never())).resolves.toBe(2)
      await expect(stores.removal.removeDeleted(never())).resolves.toBe(0)
      expect(await idsOf(stores)).toEqual(['c'])
      expect(await sumsOf(stores)).toEqual([[1, 0, 0, 0]])
    })

    it('and takes parts that come later without bringing the call back', async () => {
      const stores = await create()
      const { start, end } = callAt('late', 0, {}, { m: { input_tokens: 5 } })
      await stores.calls.endCall(end)
      await stores.calls.writeParts([callAt('whole', 0)])
      await stores.calls.startCall(callAt('running', 0).start)
      const ids = ['late', 'whole', 'running']
      const deletion = { project_id, ids, deleted_at_us: 1 }
      expect((await stores.calls.deleteCalls(deletion)).toSorted()).toEqual(ids.toSorted())
      await stores.removal.removeDeleted(never())
      await stores.calls.startCall(start)
      await stores.calls.writeParts(ids.map((id) => callAt(id, 0)))
      expect(await idsOf(stores)).toEqual([])
      expect(await sumsOf(stores)).toEqual([[0, 0, 0, 0]])
      await expect(stores.calls.findCall(project_id, 'late')).resolves.toBeNull()
      await expect(stores.calls.deleteCalls(deletion)).resolves.toEqual([])
      const named = stores.calls.renameCall({ project_id, id: 'whole', display_name: 'n' })
      await expect(named).rejects.toMatchObject({ code: 'call_not_found' })
      await expect(stores.removal.removeDeleted(never())).resolves.toBe(0)
    })

    it('not when the work was called off', async () => {
      const stores = await create()
      await stores.calls.writeParts([callAt('a', 0)])
      await stores.calls.deleteCalls({ project_id, ids: ['a'], deleted_at_us: 1 })
      await expect(stores.removal.removeDeleted(AbortSignal.abort())).resolves.toBe(0)
      await expect(stores.removal.removeDeleted(never())).resolves.toBe(1)
    })
  })
}

function describeExpiry(
  name: string,
  create: () => Promise<RemovalStores>,
  { laterParents }: Differences,
): void {
  const before_us = BASE_US + 2 * HOUR_US
  const expire = ({ removal }: RemovalStores, signal = never()) =>
    expireAll(removal, { project_id, before_us }, signal)

  describe(`${name} lets go of old calls`, () => {
    it('of one project, up to the hour, with their statistics', async () => {
      const stores = await create()
      const used = { m: { input_tokens: 5 } }
      await stores.calls.writeParts([
        ...[0, 0.5, 1, 1.999, 2, 3.5].map((hours) => callAt(`c${hours}`, hours, {}, used)),
        callAt('other', 0, { project_id: 'acme/other' }),
      ])
      await expect(expire(stores, AbortSignal.abort())).resolves.toBe(0)
      await expect(expire(stores)).resolves.toBe(4)
      await expect(expire(stores)).resolves.toBe(0)
      expect(await idsOf(stores)).toEqual(['c2', 'c3.5'])
      expect(await idsOf(stores, 'acme/other')).toEqual(['other'])
      expect(await sumsOf(stores)).toEqual([
        [0, 0, 1, 1],
        [0, 0, 5, 5],
      ])
      await expect(stores.calls.findCall(project_id, 'c1.999')).resolves.toBeNull()
    })

    it('with deleted ones, freed or not, and ends without a start, by their own time', async () => {
      const stores = await create()
      await stores.calls.writeParts([
        ...['freed', 'deleted'].map((id) => callAt(id, 0)),
        ...[0, 3].map((hours) => ({ start: null, end: callAt(`end${hours}`, hours).end })),
      ])
      await stores.calls.deleteCalls({ project_id, ids: ['freed'], deleted_at_us: 1 })
      await stores.removal.removeDeleted(never())
      await stores.calls.deleteCalls({ project_id, ids: ['deleted'], deleted_at_us: 1 })
      await expect(expire(stores)).resolves.toBe(3)
      await stores.calls.startCall(callAt('end3', 2.5).start)
      await stores.calls.startCall(callAt('end0', 2.5).start)
      await stores.calls.startCall(callAt('freed', 2.5).start)
      expect(await idsOf(stores)).toEqual(['end0', 'end3', 'freed'])
      const found = await stores.calls.findCall(project_id, 'end3')
      expect(found?.ended_at_us).toBe(BASE_US + 3.01 * HOUR_US)
      expect((await stores.calls.findCall(project_id, 'end0'))?.ended_at_us).toBeNull()
    })

    it('again, when they are sent later', async () => {
      const stores = await create()
      await stores.calls.writeParts([callAt('old', 0), callAt('new', 2)])
      await expect(expire(stores)).resolves.toBe(1)
      await stores.calls.writeParts([callAt('old', 1), callAt('older', 0)])
      expect(await idsOf(stores)).toEqual(['new', 'old', 'older'])
      expect(await sumsOf(stores)).toEqual([[1, 1, 1, 0]])
      await expect(expire(stores)).resolves.toBe(2)
      expect(await sumsOf(stores)).toEqual([[0, 0, 1, 0]])
    })

    it('and leaves what a call that remains used itself as it was', async ({ skip }) => {
      if (laterParents !== null) skip(laterParents)
      const stores = await create()
      const tokens = (input_tokens: number) => ({ m: { requests: 1, input_tokens } })
      await stores.calls.writeParts([
        callAt('child', 1, { parent_id: 'parent' }, tokens(3)),
        callAt('parent', 2, {}, tokens(5)),
      ])
      expect((await sumsOf(stores)).at(-1)).toEqual([0, 3, 2, 0])
      await expect(expire(stores)).resolves.toBe(1)
      expect((await sumsOf(stores)).at(-1)).toEqual([0, 0, 2, 0])
    })
  })
}
