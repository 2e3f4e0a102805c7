/** What every StatsStore and UsageStore must do over the calls of a CallStore, whatever they store in. */
import { describe, expect, it } from 'vitest'
import { type ProjectPrice, resolvePrice } from '../../../src/domain/prices/project-prices.ts'
import { toColumns } from '../../../src/domain/stats/metric-names.ts'
import type { CallStore } from '../../../src/store/api/calls/calls.ts'
import type { ProjectStore } from '../../../src/store/api/projects/projects.ts'
import type { StatsQuery, StatsStore } from '../../../src/store/api/stats/stats.ts'
import type { UsageStore } from '../../../src/store/api/usage/usage.ts'
import { readCaller } from '../../support/read-caller.ts'
import { endOf, startOf } from './call-store-contract.ts'

interface CallSumsStores {
  readonly calls: CallStore
  readonly stats: StatsStore
  readonly usage: UsageStore
  readonly projects: Pick<ProjectStore, 'hasProject' | 'listProjects'>
}

const PROJECT = 'acme/demo'
const MINUTE_US = 60e6
const STARTED_US = Date.UTC(2026, 0, 1) * 1000
const PRICES: readonly ProjectPrice[] = [
  resolvePrice(
    'm',
    { prompt_token_cost: 0.5, completion_token_cost: 2, effective_date: '2020-01-01T00:00:00Z' },
    { project_id: PROJECT, id: 'p', svc_user_id: 'u', created_at_us: 1 },
  ),
]

/** A root with two children, one of which still runs, then a call that was deleted and an end without a start. */
async function fill({ calls }: CallSumsStores): Promise<void> {
  const summary = { usage: { m: { requests: 1, input_tokens: 3, output_tokens: 1 } } }
  const startAt = (minutes: number) =>
    new Date((STARTED_US + minutes * MINUTE_US) / 1000).toISOString()
  const startIn = (id: string, minutes: number, parent_id: string | null) =>
    startOf({ id, trace_id: 't', parent_id, started_at: startAt(minutes) })
  const endIn = (id: string, minutes: number) =>
    endOf({ id, summary, ended_at: startAt(minutes + 1) })
  const ended = (id: string, minutes: number, parent_id: string | null) => ({
    start: startIn(id, minutes, parent_id),
    end: endIn(id, minutes),
  })
  await calls.writeParts([
    ended('root', 0, null),
    ended('child', 1, 'root'),
    { start: startIn('running', 2, 'root'), end: null },
    ended('gone', 3, null),
    { start: null, end: endIn('early', 4) },
  ])
  await calls.deleteCalls({ project_id: PROJECT, ids: ['gone'], deleted_at_us: STARTED_US })
}

function question(fields: Partial<StatsQuery> = {}): StatsQuery {
  return {
    project_id: PROJECT,
    filter: {},
    startUs: STARTED_US,
    endUs: STARTED_US + 10 * MINUTE_US,
    startsUs: new Float64Array([STARTED_US, STARTED_US + MINUTE_US]),
    callColumns: toColumns([{ metric: 'call_count', aggregations: ['sum'], percentiles: [] }]),
    usageColumns: toColumns([{ metric: 'total_cost', aggregations: ['sum'], percentiles: [] }]),
    prices: PRICES,
    counting: 'own',
    valuesMax: 100,
    ...fields,
  }
}

/** @param create - empty stores that close themselves when the test ends */
export function describeCallSumsContract(name: string, create: () => Promise<CallSumsStores>) {
  const open = async () => {
    const stores = await create()
    await fill(stores)
    return stores
  }
  describeStats(name, open)
  describeUsage(name, open)
  describeProjects(name, open)
}

type Open = () => Promise<CallSumsStores>

function describeStats(name: string, open: Open): void {
  describe(`${name} keeps the StatsStore contract`, () => {
    it('calls are counted and their usage priced by bucket, at the given prices', async () => {
      const { stats } = await open()
      const { calls, usage, unpricedModels } = await stats.aggregate(question(), readCaller())
      expect(calls?.values.map((values) => [...values])).toEqual([[1, 2]])
      // 3 tokens at 0.5 and 1 at 2, which the child has spent and the root reports with its own.
      const sums = (tables: typeof usage) =>
        tables.map(({ model, table }) => [model, [...(table.values[0] ?? [])]])
      expect(sums(usage)).toEqual([['m', [0, 3.5]]])
      const reported = await stats.aggregate(question({ counting: 'reported' }), readCaller())
      expect(sums(reported.usage)).toEqual([['m', [3.5, 3.5]]])
      expect(unpricedModels).toEqual([])
    })

    it('an empty window has no bucket', async () => {
      const { stats } = await open()
      const empty = question({ endUs: STARTED_US, startsUs: new Float64Array() })
      const { calls, usage } = await stats.aggregate(empty, readCaller())
      expect([calls?.values.map(({ length }) => length), usage]).toEqual([[0], []])
      const rendered = await stats.render(empty, readCaller())
      const texts = [rendered.callBuckets, rendered.usageBuckets].map((parts) =>
        JSON.parse(Buffer.concat(parts).toString('utf8')),
      )
      expect(texts).toEqual([[], []])
    })

    it('models without a price are reported', async () => {
      const { stats } = await open()
      const found = await stats.aggregate(question({ prices: [] }), readCaller())
      expect(found.unpricedModels).toEqual(['m'])
    })

    it('aggregated statistics are rendered', async () => {
      const { stats } = await open()
      const { callBuckets } = await stats.render(question(), readCaller())
      const buckets = JSON.parse(Buffer.concat(callBuckets).toString('utf8'))
      expect(buckets.map(({ sum_call_count: sum }: Record<string, number>) => sum)).toEqual([1, 2])
    })

    it('more values than the limit are refused', async () => {
      const { stats } = await open()
      const found = stats.aggregate(question({ valuesMax: 1 }), readCaller())
      await expect(found).rejects.toMatchObject({
        code: 'validation_failed',
        param: 'granularity',
      })
    })
  })
}

function describeUsage(name: string, open: Open): void {
  describe(`${name} keeps the UsageStore contract`, () => {
    const limits = { project_id: PROJECT, prices: PRICES, counting: 'own' as const, limit: 10 }

    it('usage that a call reports for its descendants is counted once, at the given prices', async () => {
      const { usage } = await open()
      const found = await usage.sumCallsUsage(
        { ...limits, call_ids: ['root', 'unknown'] },
        readCaller(),
      )
      expect(found.call_usage.root?.m).toMatchObject({
        prompt_tokens: 3,
        prompt_tokens_total_cost: 1.5,
        completion_tokens: 1,
        completion_tokens_total_cost: 2,
      })
      expect(found.call_usage.unknown).toEqual({})
      expect(found.unfinished_call_ids).toEqual(['running'])
    })

    it('starts and ends that arrive apart are joined, in any order', async () => {
      const { usage, calls } = await open()
      const startIn = (id: string, parent_id: string | null) =>
        calls.startCall(startOf({ id, trace_id: 'u', parent_id, op_name: id }))
      const endIn = (id: string, tokens: number) =>
        calls.endCall(endOf({ id, summary: { usage: { m: { input_tokens: tokens } } } }))
      await startIn('a', null)
      await startIn('b', 'a')
      await endIn('c', 100)
      await endIn('b', 10)
      await startIn('c', 'b')
      await startIn('d', 'c')
      await endIn('a', 1)
      const reported = { ...limits, counting: 'reported' as const, prices: null }
      const named = await usage.sumCallsUsage({ ...reported, call_ids: ['b', 'c'] }, readCaller())
      expect(named.call_usage).toMatchObject({
        b: { m: { prompt_tokens: 110, requests: 2 } },
        c: { m: { prompt_tokens: 100, requests: 1 } },
      })
      expect(named.unfinished_call_ids).toEqual(['d'])
      const filter = { trace_ids: ['u'] }
      const all = await usage.sumTraceUsage({ ...reported, filter, expression: null }, readCaller())
      expect(all.call_usage).toMatchObject({ a: { m: { prompt_tokens: 111, requests: 3 } }, d: {} })
      expect(all.unfinished_call_ids).toEqual(['d'])
      const none = await usage.sumCallsUsage(
        { ...reported, call_ids: ['x', 'early'] },
        readCaller(),
      )
      expect(none).toMatchObject({ call_usage: { x: {}, early: {} }, unfinished_call_ids: [] })
    })

    // weave from PyPI has the cached input in `input_tokens` since 0.53.2, npm's weave (0.11.1) beside it.
    it('cached input is counted as by the reporter that the start names, whichever part arrives first', async () => {
      const { usage, calls } = await open()
      const report = { input_tokens: 110, output_tokens: 1, cache_read_input_tokens: 100 }
      const python = { weave: { client_version: '0.54.0', source: 'python-sdk' } }
      const npm = { weave: { client_version: '0.11.1', source: 'js-sdk' } }
      const startIn = (id: string, attributes: object) =>
        calls.startCall(startOf({ id, trace_id: 'r', attributes }))
      const endIn = (id: string) =>
        calls.endCall(endOf({ id, summary: { usage: { 'claude-x': report } } }))
      await startIn('python-1', python)
      await endIn('python-1')
      await endIn('python-2')
      await startIn('python-2', python)
      await startIn('npm-1', npm)
      await endIn('npm-1')
      await endIn('npm-2')
      await startIn('npm-2', npm)
      const query = { ...limits, filter: { trace_ids: ['r'] }, expression: null, prices: null }
      const found = await usage.sumTraceUsage(query, readCaller())
      const tokens = (id: string) => found.call_usage[id]?.['claude-x']?.prompt_tokens
      expect(['python-1', 'python-2', 'npm-1', 'npm-2'].map(tokens)).toEqual([110, 110, 210, 210])
    })

    it('a usage read returns every call that a filter selects, and refuses more than the limit', async () => {
      const { usage } = await open()
      const query = { ...limits, filter: { trace_ids: ['t'] }, expression: null, prices: null }
      const found = await usage.sumTraceUsage(query, readCaller())
      expect(Object.keys(found.call_usage).sort()).toEqual(['child', 'root', 'running'])
      const tooMany = usage.sumTraceUsage({ ...query, limit: 2 }, readCaller())
      await expect(tooMany).rejects.toMatchObject({ code: 'validation_failed', param: 'limit' })
    })
  })
}

function describeProjects(name: string, open: Open): void {
  describe(`${name} keeps the ProjectStore contract`, () => {
    it('the list of projects has those that received a call or an end alone, and no others', async () => {
      const { calls, projects } = await open()
      expect(await projects.hasProject('a/started')).toBe(false)
      await calls.startCall(startOf({ project_id: 'a/started' }))
      await calls.endCall(endOf({ project_id: 'a/ended' }))
      const found = ['a/started', 'a/ended', 'a/other'].map(projects.hasProject)
      expect(await Promise.all(found)).toEqual([true, true, false])
    })

    it('projects that received calls or names for them are listed in the order of bytes', async () => {
      const { calls, projects } = await open()
      const ids = ['b/x', 'B/x', 'é/x', '\uffee/x', '😀/x']
      for (const project_id of ids) await calls.startCall(startOf({ project_id }))
      await calls.endCall(endOf({ project_id: 'ended/x' }))
      await calls.renameCall({ project_id: 'named/x', id: 'c', display_name: 'n' })
      await calls.deleteCalls({ project_id: 'b/x', ids: ['call-1'], deleted_at_us: 1 })
      const found = await projects.listProjects(readCaller())
      const known = ['B/x', PROJECT, 'b/x', 'ended/x', 'named/x', 'é/x', '\uffee/x', '😀/x']
      expect(found).toEqual(known)
    })
  })
}
