/** Two stores get the same writes, and calls expire in one of them: what remains is the same in both. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { resolveCallsSelection, resolveCallsShape } from '../../src/domain/calls/calls-query.ts'
import { openSqliteStore, type SqliteStore } from '../../src/store/sqlite/open.ts'
import {
  ALL_COLUMNS,
  BASE_US,
  endOf,
  HOUR_US,
  PROJECT,
  startOf,
  type TestCall,
  usageOf,
} from '../stats/support/segment-calls.ts'
import { expireAll } from '../store/support/expire-all.ts'
import { readCaller } from '../support/read-caller.ts'
import { makeTempDir } from '../support/temp-dir.ts'

/** On a disk both stores have threads, and one is opened anew: a run there takes as long as five in memory. */
const RUNS = { inMemory: 18, onDisk: 2 }
const HOURS = 4

const drawnCall = fc.record({
  startedUs: fc
    .tuple(fc.nat(HOURS - 1), fc.nat(59))
    .map(([hour, minute]) => BASE_US + hour * HOUR_US + minute * 60e6),
  latencyUs: fc.nat(5e6),
  op: fc.constantFrom('a', 'b'),
  user: fc.constantFrom('u', 'v'),
  run: fc.constantFrom(null, 'r'),
  isError: fc.boolean(),
  parent: fc.option(fc.nat()),
  tokens: fc.array(fc.tuple(fc.constantFrom('m', 'n'), fc.nat(20)), { maxLength: 2 }),
})

/** A call of the expiring hour, and two that stay; the parent of the two reports the usage of its child. */
const FAMILY = toCalls(
  [
    { hour: 0, parent: null },
    { hour: 2, parent: null },
    { hour: 2, parent: 1 },
  ].map(({ hour, parent }) => ({
    startedUs: BASE_US + hour * HOUR_US,
    latencyUs: 1,
    op: 'a',
    user: 'u',
    run: null,
    isError: false,
    parent,
    tokens: [['m', 10]],
  })),
)

/** `hour` is the first one that stays. */
const step = fc.record({
  does: fc.constantFrom('both', 'both', 'start', 'end', 'delete', 'free', 'build', 'expire', 'ask'),
  call: fc.nat(),
  hour: fc.integer({ min: 1, max: HOURS - 1 }),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

function toCalls(drawn: readonly (typeof drawnCall extends fc.Arbitrary<infer T> ? T : never)[]) {
  return drawn.map(({ parent, tokens, ...call }, index): TestCall => {
    const above = parent === null ? null : parent % drawn.length
    const usage = Object.entries(Object.fromEntries(tokens))
    return {
      ...call,
      id: `c${index}`,
      isRoot: above === null,
      ...(above === null ? {} : { parentId: `c${above}` }),
      usage: usage.map(([model, input]) => usageOf(model, input, 1)),
    }
  })
}

/** Calls that began before a time, and all above and below them. */
function linkedTo(calls: readonly TestCall[], cutoffUs: number): ReadonlySet<string> {
  const linked = new Set(calls.filter(({ startedUs }) => startedUs < cutoffUs).map(({ id }) => id))
  for (let size = -1; size !== linked.size; ) {
    size = linked.size
    for (const { id, parentId } of calls) {
      if (linked.has(id) && parentId) linked.add(parentId)
      if (parentId && linked.has(parentId)) linked.add(id)
    }
  }
  return linked
}

async function statsOf(store: SqliteStore, startUs: number) {
  const endUs = BASE_US + HOURS * HOUR_US
  const startsUs = Float64Array.from(
    { length: Math.ceil((endUs - startUs) / HOUR_US) },
    (_, hour) => startUs + hour * HOUR_US,
  )
  const responses = []
  for (const counting of ['own', 'reported'] as const) {
    for (const filter of [
      {},
      { op_names: ['a'] },
      { trace_roots_only: true },
      { parent_ids: ['c1'] },
    ]) {
      const asked = { project_id: PROJECT, filter, startUs, endUs, startsUs, ...ALL_COLUMNS }
      const limits = { prices: [], counting, valuesMax: 1e6 }
      responses.push(await store.stats.aggregate({ ...asked, ...limits }, readCaller()))
    }
  }
  return responses
}

async function listOf(store: SqliteStore, cutoffUs: number) {
  const calls = []
  const selection = resolveCallsSelection({ project_id: PROJECT })
  const shape = resolveCallsShape({ project_id: PROJECT })
  for await (const page of store.callsQuery.pages(selection, shape, readCaller())) {
    for (const { call } of page) if (call.started_at_us >= cutoffUs) calls.push(call)
  }
  const wants = { prices: null, counting: 'own' as const, limit: 100 }
  const call_ids = calls.map(({ id }) => id)
  const asked = { project_id: PROJECT, call_ids, ...wants }
  return { calls, usage: await store.usage.sumCallsUsage(asked, readCaller()) }
}

describe('calls that expire', () => {
  it('leave everything that remains as it was, built or not, and after a restart', async () => {
    let left = 0
    let differing = 0
    const propertyOf = (isOnDisk: boolean) =>
      fc.asyncProperty(
        fc.array(drawnCall, { minLength: 2, maxLength: 12 }).map(toCalls),
        fc.array(step, { maxLength: 30 }),
        fc.constantFrom(2, 1000),
        async (calls, steps, segmentRowsMax) => {
          const options = { ingestQueueMax: 1000, segmentRowsMax }
          const dataDir = isOnDisk ? makeTempDir() : ':memory:'
          const full = openSqliteStore({ ...options, dataDir: ':memory:' })
          let store = openSqliteStore({ ...options, dataDir })
          let cutoffUs = BASE_US

          const compare = async () => {
            expect(await listOf(store, BASE_US)).toEqual(await listOf(full, cutoffUs))
            for (const startUs of [cutoffUs, cutoffUs + HOUR_US / 2]) {
              const expected = await statsOf(full, startUs)
              expect(await statsOf(store, startUs)).toEqual(expected)
              const [own, , , , reported] = expected
              if (cutoffUs > BASE_US && JSON.stringify(own) !== JSON.stringify(reported))
                differing += 1
            }
            if (cutoffUs === BASE_US) return
            const [all] = await statsOf(store, BASE_US)
            expect(all?.calls?.count[0]).toBe(0)
          }
          const expire = async (hour: number) => {
            cutoffUs = Math.max(cutoffUs, BASE_US + hour * HOUR_US)
            const expiry = { project_id: PROJECT, before_us: cutoffUs }
            // Pieces that are made meanwhile must not stay.
            const [gone] = await Promise.all([
              expireAll(store.removal, expiry),
              store.segments.buildAll(),
            ])
            left += gone
          }
          const both = (act: (one: SqliteStore) => Promise<unknown>) =>
            Promise.all([act(store), act(full)])
          const perform = async ({ does, call, hour }: Step) => {
            const chosen = calls[call % calls.length] as TestCall
            if (does === 'build') return store.segments.buildAll()
            if (does === 'expire') return expire(hour)
            if (does === 'free') return store.removal.removeDeleted(new AbortController().signal)
            if (does === 'ask') return compare()
            // An expired call is forgotten, so later parts of it make a new call.
            if (cutoffUs > BASE_US && linkedTo(calls, cutoffUs).has(chosen.id)) return
            if (does === 'delete') {
              const deletion = { project_id: PROJECT, ids: [chosen.id], deleted_at_us: 1 }
              return both((one) => one.calls.deleteCalls(deletion))
            }
            const start = does === 'end' ? null : startOf(chosen)
            const end = does === 'start' ? null : endOf(chosen)
            return both((one) => one.calls.writeParts([{ start, end }]))
          }

          for (const call of calls)
            await perform({ does: 'both', call: calls.indexOf(call), hour: 1 })
          for (const one of steps) await perform(one)
          await expire(1)
          await compare()
          await store.segments.buildAll()
          await compare()
          if (isOnDisk) {
            await store.close()
            store = openSqliteStore({ ...options, dataDir })
            await compare()
          }
          await Promise.all([store.close(), full.close()])
        },
      )
    const examples: [typeof FAMILY, Step[], number][] = [[FAMILY, [], 2]]
    await fc.assert(propertyOf(false), { numRuns: RUNS.inMemory, examples })
    await fc.assert(propertyOf(true), { numRuns: RUNS.onDisk })
    // Whatever is drawn, this example expires one call next to calls that count each other's usage.
    expect(left).toBeGreaterThan(0)
    expect(differing).toBeGreaterThan(0)
  }, 120_000)
})
