/** What every CallsQueryStore must do, whatever it stores in: only the contracts of the stores are used. */
import { describe, expect, it } from 'vitest'
import { resolveCallsSelection, resolveCallsShape } from '../../../src/domain/calls/calls-query.ts'
import { type ProjectPrice, resolvePrice } from '../../../src/domain/prices/project-prices.ts'
import type { CallStore, CallsQueryStore } from '../../../src/store/api/calls/calls.ts'
import type { FeedbackStore } from '../../../src/store/api/feedback/feedback.ts'
import { feedbackAt } from '../../feedback/feedback-fixtures.ts'
import { type ContentStores, newObject } from '../../objects/object-store-contract.ts'
import { endOf, startOf } from '../../store/calls/call-store-contract.ts'
import { readCaller } from '../../support/read-caller.ts'

export interface CallsQueryStores extends ContentStores {
  readonly calls: CallStore
  readonly callsQuery: CallsQueryStore
  readonly feedback: FeedbackStore
}

const project_id = 'acme/demo'
const REACH = { refScheme: 'weave', projects: ['acme/demo'] }
const at = (second: number) => `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`
const field = (name: string) => ({ $getField: name })
const literal = (value: unknown) => ({ $literal: value })
const named = (name: string, value: unknown) => ({ $eq: [field(name), literal(value)] })

/** Calls `b` and `a` began at 2 s, `c` at 1 s, `d` at 3 s; `gone` was deleted, `far` is of another project. */
async function fill({ calls, objects, feedback }: CallsQueryStores): Promise<void> {
  const starts = [
    { id: 'b', started_at: at(2), op_name: 'x', inputs: { n: 2, s: 'Beta' }, thread_id: 'th' },
    { id: 'a', started_at: at(2), inputs: { n: 10, s: 'alpha' }, parent_id: 'p', trace_id: 't1' },
    { id: 'c', started_at: at(1), inputs: { n: '3', s: null, model: CONFIG }, trace_id: 't1' },
    {
      id: 'd',
      started_at: at(3),
      inputs: { list: [{ v: 'deep' }], model: MODEL, far: FAR },
      attributes: { user: 'ada' },
    },
    { id: 'gone', started_at: at(2) },
    { id: 'far', started_at: at(2), project_id: 'acme/other' },
  ]
  for (const start of starts) await calls.startCall(startOf({ trace_id: 't2', ...start }))
  await calls.endCall(endOf({ id: 'a', ended_at: at(5), exception: 'Boom', output: { ok: true } }))
  await calls.endCall(endOf({ id: 'c', ended_at: at(4), output: 'text' }))
  await calls.endCall(endOf({ id: 'early', ended_at: at(4) }))
  await calls.deleteCalls({ project_id, ids: ['gone'], deleted_at_us: 1 })
  await objects.createObject(newObject({ name: 'small', deep: { n: 1 } }, { object_id: 'config' }))
  await objects.createObject(newObject({ name: 'big', config: CONFIG }, { object_id: 'model' }))
  await objects.createObject(
    newObject({ name: 'far' }, { object_id: 'far', project_id: 'acme/other' }),
  )
  const rows: [string, string, string, unknown][] = [
    ['f1', 'a', 'judge', 0.2],
    ['f2', 'a', 'judge', 0.9],
    ['f3', 'b', 'judge', 0.5],
    ['f4', 'b', 'other', 'x'],
  ]
  for (const [at_s, [id, call, type, score]] of rows.entries()) {
    const runnable_ref = `weave:///acme/demo/object/${type}:v${at_s}`
    const fields = { feedback_type: `wandb.runnable.${type}`, payload: { output: { score } } }
    const made = feedbackAt(at(at_s), id, fields)
    const weave_ref = `weave:///acme/demo/call/${call}`
    await feedback.createFeedback({ ...made, weave_ref, runnable_ref })
  }
}

const CONFIG = 'weave:///acme/demo/object/config:v0'
const MODEL = 'weave:///acme/demo/object/model:latest'
const FAR = 'weave:///acme/other/object/far:v0'
const SCORE = 'feedback.[wandb.runnable.judge].payload.output.score'
const SCORER = 'feedback.[wandb.runnable.judge].runnable_ref'
const compare = (op: string, name: string, value: unknown) => ({
  query: { $expr: { [op]: [field(name), literal(value)] } },
})
const expanding = (expand_columns: string[], name: string, value: unknown) => ({
  ...compare('$eq', name, value),
  expand_columns,
})

type Request = Partial<Parameters<typeof resolveCallsSelection>[0]> & object

function selectionOf(request: Request) {
  return resolveCallsSelection({ project_id, ...request }, REACH)
}

async function list({ callsQuery }: CallsQueryStores, request: Request = {}, shape: object = {}) {
  const wanted = resolveCallsShape({ project_id, ...shape })
  const found = []
  const pages = callsQuery.pages(selectionOf(request), wanted, readCaller())
  for await (const page of pages) found.push(...page)
  return found
}

async function ids(stores: CallsQueryStores, request: Request = {}): Promise<string> {
  return (await list(stores, request)).map(({ call }) => call.id).join(' ')
}

const sortBy = (name: string, direction: 'asc' | 'desc') => ({
  sort_by: [{ field: name, direction }],
})

/** Requests and the calls they find, in order. */
const ANSWERS: readonly (readonly [Request, string])[] = [
  [{}, 'c a b d'],
  [sortBy('started_at', 'desc'), 'd b a c'],
  [{ limit: 2 }, 'c a'],
  [{ offset: 1, limit: 2 }, 'a b'],
  [{ offset: 9 }, ''],
  [{ limit: 0 }, ''],
  [{ filter: { op_names: ['x'] } }, 'b'],
  [{ filter: { trace_ids: ['t1'] } }, 'c a'],
  [{ filter: { trace_ids: ['t1'] }, offset: 1 }, 'a'],
  [{ filter: { parent_ids: ['p'] } }, 'a'],
  [{ filter: { call_ids: ['d', 'a', 'far', 'gone', 'early', 'none'] } }, 'a d'],
  [{ filter: { thread_ids: ['th'] } }, 'b'],
  [{ filter: { end_user_ids: ['ada', 'bob'] } }, 'd'],
  [{ filter: { end_user_ids: ['Ada'] } }, ''],
  [{ query: { $expr: named('end_user_id', 'ada') } }, 'd'],
  [{ ...sortBy('end_user_id', 'asc'), limit: 1 }, 'd'],
  [{ filter: { trace_roots_only: true } }, 'c a b d'],
  [{ filter: { trace_ids: ['t1'], trace_roots_only: true } }, 'c a'],
  [{ query: { $expr: named('inputs.s', 'alpha') } }, 'a'],
  [{ query: { $expr: named('inputs.list.0.v', 'deep') } }, 'd'],
  [{ query: { $expr: named('output', 'text') } }, 'c'],
  [{ query: { $expr: named('output.ok', true) } }, 'a'],
  [{ query: { $expr: named('output.ok', 'true') } }, 'a'],
  [{ query: { $expr: named('id', 'c') } }, 'c'],
  [{ query: { $expr: named('summary.weave.status', 'running') } }, 'b d'],
  [{ query: { $expr: { $gte: [field('started_at'), literal(at(2))] } } }, 'a b d'],
  [{ query: { $expr: { $lt: [field('started_at'), literal(at(2))] } } }, 'c'],
  [{ query: { $expr: { $gt: [field('inputs.n'), literal(2)] } } }, 'a'],
  [{ query: { $expr: { $not: [named('op_name', 'x')] } } }, 'c a d'],
  [{ query: { $expr: { $or: [named('id', 'b'), named('id', 'd')] } } }, 'b d'],
  [{ query: { $expr: { $and: [named('trace_id', 't1'), named('id', 'a')] } } }, 'a'],
  [{ query: { $expr: { $in: [field('inputs.n'), [literal(2), literal('3')]] } } }, 'c b'],
  [{ query: { $expr: contains('inputs.s', 'BETA', true) } }, 'b'],
  [{ query: { $expr: contains('inputs.s', 'BETA', false) } }, ''],
  [
    {
      query: {
        $expr: {
          $gte: [{ $convert: { input: field('inputs.n'), to: 'double' } }, literal(3)],
        },
      },
    },
    'c a',
  ],
  [{ query: { $expr: contains('inputs', 'a', true) }, offset: 1, limit: 1 }, 'a'],
  [sortBy('inputs.n', 'asc'), 'b a c d'],
  [sortBy('inputs.n', 'desc'), 'a b c d'],
  [{ ...sortBy('ended_at', 'desc'), limit: 2 }, 'a c'],
  [compare('$eq', 'inputs.model.name', 'big'), ''],
  [expanding(['inputs.model'], 'inputs.model.name', 'big'), 'd'],
  [expanding(['inputs.model'], 'inputs.model', MODEL), 'd'],
  [expanding(['inputs'], 'inputs.model.name', 'small'), 'c'],
  [expanding(['inputs.model'], 'inputs.model.deep.n', 1), 'c'],
  [expanding(['inputs.model'], 'inputs.model.config.name', 'small'), ''],
  [expanding(['inputs.model.config', 'inputs.model'], 'inputs.model.config.name', 'small'), 'd'],
  [expanding(['inputs.far'], 'inputs.far.name', 'far'), ''],
  [{ ...sortBy('inputs.model.name', 'desc'), expand_columns: ['inputs.model'] }, 'c d b a'],
  [compare('$gt', SCORE, 0.4), 'a b'],
  [compare('$lt', SCORE, 0.4), 'a'],
  [{ query: { $expr: { $not: [{ $gt: [field(SCORE), literal(0.6)] }] } } }, 'b'],
  [compare('$eq', SCORE, null), 'c d'],
  [compare('$eq', SCORER, 'weave:///acme/demo/object/judge:v0'), 'a'],
  [compare('$eq', SCORER, 'weave:///acme/demo/object/judge:v1'), 'a'],
  [compare('$eq', 'feedback.[*].payload.output.score', 'x'), 'b'],
  [compare('$eq', 'feedback.[wandb.runnable.none].runnable_ref', 'x'), ''],
  [sortBy(SCORE, 'desc'), 'a b d c'],
  [sortBy(SCORE, 'asc'), 'b a d c'],
  [{ ...sortBy('id', 'desc'), offset: 1, limit: 2 }, 'c b'],
]

function contains(name: string, text: string, case_insensitive: boolean) {
  return { $contains: { input: field(name), substr: literal(text), case_insensitive } }
}

/** @param create - empty stores that close themselves when the test ends */
export function describeCallsQueryContract(
  name: string,
  create: () => Promise<CallsQueryStores>,
): void {
  describe(`${name} keeps the CallsQueryStore contract`, () => {
    it('finds nothing where nothing is', async () => {
      const stores = await create()
      expect(await ids(stores)).toBe('')
      const none = await stores.callsQuery.count(selectionOf({}), readCaller())
      expect(none).toEqual({ count: 0, storage_size_bytes: 0 })
    })

    it('finds the calls of each request in its order, and counts as many', async () => {
      const stores = await create()
      await fill(stores)
      for (const [request, expected] of ANSWERS) {
        expect([request, await ids(stores, request)]).toEqual([request, expected])
        if ('offset' in request) continue
        const { count } = await stores.callsQuery.count(selectionOf(request), readCaller())
        expect([request, count]).toEqual([request, expected.split(' ').filter(Boolean).length])
      }
    })

    it('filters and sorts by what calls cost, at the prices that come with the query', async () => {
      const stores = await create()
      const usage = (total: number, model = 'gpt-4o') => ({ [model]: { prompt_tokens: total } })
      const reports = [usage(2000), usage(500), usage(9), {}, usage(3000, 'own/model.1')]
      for (const [n, usage] of reports.entries()) {
        const id = `c${n}`
        await stores.calls.startCall(startOf({ id, started_at: at(n) }))
        await stores.calls.endCall(endOf({ id, ended_at: at(9), summary: { usage } }))
      }
      const TOTAL = 'summary.weave.total_cost'
      const own = resolvePrice(
        'own/model.1',
        { prompt_token_cost: 0.001, completion_token_cost: 0 },
        { project_id, id: 'price', svc_user_id: 'u', created_at_us: 0 },
      )
      const priced = async (request: Request, prices: readonly ProjectPrice[] | null) => {
        const selection = { ...selectionOf(request), prices }
        const shape = resolveCallsShape({ project_id, columns: ['id'] })
        const found: string[] = []
        for await (const page of stores.callsQuery.pages(selection, shape, readCaller())) {
          found.push(...page.map(({ call }) => call.id))
        }
        const { count } = await stores.callsQuery.count(selection, readCaller())
        expect(count).toBe(found.length)
        return found.join(' ')
      }
      const dear = compare('$gt', TOTAL, 0.001)
      const unpriced = compare('$eq', TOTAL, null)
      expect(await priced(dear, [])).toBe('c0 c1')
      expect(await priced(dear, [own])).toBe('c0 c1 c4')
      expect(await priced(unpriced, [])).toBe('c3 c4')
      expect(await priced(unpriced, [own])).toBe('c3')
      expect(await priced(dear, null)).toBe('')
      expect(await priced(sortBy(TOTAL, 'desc'), [own])).toBe('c4 c0 c1 c2 c3')
      expect(await priced(sortBy(TOTAL, 'asc'), [])).toBe('c2 c1 c0 c4 c3')
      const entry = 'summary.weave.costs.own/model\\.1.prompt_tokens_total_cost'
      expect(await priced(compare('$eq', entry, 3), [own])).toBe('c4')
    })

    it('counts the bytes of the calls that it counts, up to the limit', async () => {
      const stores = await create()
      await fill(stores)
      const sizes = (await list(stores)).map(({ call }) => call.storage_size_bytes)
      const all = await stores.callsQuery.count(selectionOf({}), readCaller())
      expect(all).toEqual({ count: 4, storage_size_bytes: sizes.reduce((sum, size) => sum + size) })
      const query = { $expr: named('id', 'd') }
      const one = await stores.callsQuery.count(selectionOf({ query }), readCaller())
      expect(one).toEqual({ count: 1, storage_size_bytes: sizes[3] })
      for (const limit of [0, 1, 2, 3]) {
        const first = await stores.callsQuery.count(selectionOf({ limit }), readCaller())
        const storage_size_bytes = sizes.slice(0, limit).reduce((sum, size) => sum + size, 0)
        expect(first).toEqual({ count: limit, storage_size_bytes })
      }
    })

    it('leaves bodies out that the shape does not want', async () => {
      const stores = await create()
      await fill(stores)
      const filter = { call_ids: ['a'] }
      const [narrow] = await list(stores, { filter }, { columns: ['id', 'output'] })
      expect(narrow?.call).toMatchObject({ id: 'a', inputs_json: null, attributes_json: null })
      expect(JSON.parse(narrow?.call.output_json ?? '')).toEqual({ ok: true })
      expect(narrow).toMatchObject({ totalStorageSizeBytes: null })
      const [wide] = await list(stores, { filter })
      expect(JSON.parse(wide?.call.inputs_json ?? '')).toEqual({ n: 10, s: 'alpha' })
    })

    it('leaves bodies of more than 1 MiB out of previews, and names them', async () => {
      const stores = await create()
      const text = 'abc '.repeat(262_144)
      await stores.calls.startCall(startOf({ id: 'long', inputs: { text } }))
      await stores.calls.endCall(endOf({ id: 'long', output: { text: text.slice(0, 20_000) } }))
      await stores.calls.startCall(startOf({ id: 'open', inputs: { n: 1 } }))
      const columns = ['inputs', 'output']
      const filter = { call_ids: ['long', 'open'] }
      const shown = await list(stores, { filter }, { columns, preview_bodies: true })
      const byId = new Map(shown.map((listed) => [listed.call.id, listed]))
      expect(byId.get('long')).toMatchObject({ call: { inputs_json: null }, unread: ['inputs'] })
      expect(byId.get('long')?.call.output_json).toHaveLength(20_000 + '{"text":""}'.length)
      expect(byId.get('open')?.unread).toEqual([])
      expect(JSON.parse(byId.get('open')?.call.inputs_json ?? '')).toEqual({ n: 1 })
      const whole = await list(stores, { filter: { call_ids: ['long'] } }, { columns })
      expect(JSON.parse(whole[0]?.call.inputs_json ?? '')).toEqual({ text })
    })

    it('returns the bytes of the trace when requested', async () => {
      const stores = await create()
      await fill(stores)
      const shape = { include_total_storage_size: true }
      const found = await list(stores, { filter: { trace_ids: ['t1'] } }, shape)
      const bytes = found.reduce((sum, { call }) => sum + call.storage_size_bytes, 0)
      expect(found.map(({ totalStorageSizeBytes }) => totalStorageSizeBytes)).toEqual([
        bytes,
        bytes,
      ])
    })

    it('lists each call once and in order, however many began at the same time', async () => {
      const stores = await create()
      const wanted = Array.from({ length: 250 }, (_, n) => `c${String(n).padStart(3, '0')}`)
      await Promise.all(
        wanted.map((id) => stores.calls.startCall(startOf({ id, started_at: at(1) }))),
      )
      expect(await ids(stores)).toBe(wanted.join(' '))
      expect(await ids(stores, sortBy('started_at', 'desc'))).toBe(wanted.toReversed().join(' '))
      const query = { $expr: contains('id', 'c', false) }
      expect(await ids(stores, { query })).toBe(wanted.join(' '))
      expect(await ids(stores, { query, offset: 90, limit: 120 })).toBe(
        wanted.slice(90, 210).join(' '),
      )
    })

    it('lists calls of one time by the texts of their ids, whatever forms these have', async () => {
      const stores = await create()
      const hex = '0af7651916cd43dd'
      const uuid = '0af76519-16cd-43dd-8448-eb211c80319c'
      const wanted = ['0af76', '0af76519', uuid, hex, `${hex}8448eb211c80319c`, `${hex}x`, 'a']
      await Promise.all(wanted.toReversed().map((id) => stores.calls.startCall(startOf({ id }))))
      expect(await ids(stores)).toBe(wanted.join(' '))
      expect(await ids(stores, { offset: 2, limit: 3 })).toBe(wanted.slice(2, 5).join(' '))
      expect(await ids(stores, sortBy('started_at', 'desc'))).toBe(wanted.toReversed().join(' '))
    })

    it('leaves out what comes and what goes while the list runs', async () => {
      const stores = await create()
      const batch = Array.from({ length: 250 }, (_, n) => `c${String(n).padStart(3, '0')}`)
      await Promise.all(batch.map((id) => stores.calls.startCall(startOf({ id }))))
      const shape = resolveCallsShape({ project_id })
      const listed: string[] = []
      for await (const page of stores.callsQuery.pages(selectionOf({}), shape, readCaller())) {
        listed.push(...page.map(({ call }) => call.id))
        await stores.calls.startCall(startOf({ id: 'zz-late' }))
        await stores.calls.deleteCalls({ project_id, ids: ['c249', 'c000'], deleted_at_us: 1 })
      }
      expect(listed).toEqual(batch.slice(0, -1))
    })

    it('stops for a caller that has left', async () => {
      const stores = await create()
      await fill(stores)
      const gone = readCaller({ signal: AbortSignal.abort() })
      const code = 'client_closed_request'
      const counted = stores.callsQuery.count(selectionOf({}), gone)
      await expect(counted).rejects.toMatchObject({ code })
      const shape = resolveCallsShape({ project_id })
      const pages = stores.callsQuery.pages(selectionOf({}), shape, gone)
      await expect(pages[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code })
    })
  })
}
