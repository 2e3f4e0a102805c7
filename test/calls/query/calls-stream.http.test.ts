/** Lists of calls, as a stream of lines. */
import { describe, expect, it } from 'vitest'
import { buildTestApp } from '../../support/build-test-app.ts'
import { ENDED, STARTED } from '../call-fixtures.ts'
import { end, ids, list, PROJECT, seed, start, url } from './stream-fixtures.ts'

describe('POST /calls/stream_query', () => {
  describe('200', () => {
    it('gives started, live calls of the project by started_at and id', async () => {
      const app = await buildTestApp()
      expect(await list(app)).toEqual([])
      await seed(app)
      expect(ids(await list(app))).toEqual(['c', 'a', 'b'])
    })

    it('gives what a read gives, in both spellings', async () => {
      const app = await buildTestApp()
      await start(app, 'a', {
        svc_run_id: 'r',
        otel_dump: { span: 1, svc_user_id: 'mine' },
        inputs: { svc_user_id: 'mine', 'a"\n': 'é\u2028' },
        thread_id: 't',
      })
      await end(app, 'a', {
        output: { svc_run_id: 1 },
        summary: { svc_run_id: 1, weave: { x: 1 } },
      })
      await start(app, 'b')
      for (const root of ['', '/traces']) {
        for (const call of await list(app, {}, root + url)) {
          const read = await app.post(`${root}/call/read`, { project_id: PROJECT, id: call.id })
          expect(call).toEqual(read.body.call)
        }
      }
    })

    it('keeps the digits of long numbers', async () => {
      const app = await buildTestApp()
      const body = JSON.stringify({ start: { ...STARTED, id: 'a' } })
      await app.post('/call/start', body.replace('"why"', '12345678901234567890'))
      const { text } = await app.post(url, { project_id: PROJECT })
      expect(text).toContain('12345678901234567890')
    })

    it('shortens bodies to previews where asked, and names those of more than 1 MiB', async () => {
      const app = await buildTestApp()
      const text = 'é'.repeat(300_000)
      await start(app, 'a', { inputs: { text, model: 'm' } })
      await end(app, 'a', {
        output: { text: text.repeat(3) },
        summary: { weave: { unread_bodies: 1 } },
      })
      const columns = ['inputs', 'output', 'summary']
      const [call] = await list(app, { columns, preview_bodies: true })
      expect(call.inputs).toEqual({ text: `${'é'.repeat(400)}…`, model: 'm' })
      expect(call.output).toBeNull()
      expect(call.summary.weave.unread_bodies).toEqual(['output'])
      const [whole] = await list(app, { columns })
      expect(whole.inputs.text).toBe(text)
      expect(whole.summary.weave).not.toHaveProperty('unread_bodies')
    })

    it.each([
      [{ limit: 2 }, ['c', 'a']],
      [{ limit: 0 }, []],
      [{ offset: 1 }, ['a', 'b']],
      [{ offset: 1, limit: 1 }, ['a']],
      [{ offset: 9 }, []],
      [{ sort_by: [] }, ['c', 'a', 'b']],
      [{ sort_by: [{ field: 'started_at', direction: 'desc' }] }, ['b', 'a', 'c']],
      [{ sort_by: [{ field: 'started_at', direction: 'desc' }], limit: 1, offset: 1 }, ['a']],
      [{ sort_by: [{ field: 'id', direction: 'asc' }] }, ['a', 'b', 'c']],
      [{ sort_by: [{ field: 'inputs.n', direction: 'asc' }] }, ['b', 'a', 'c']],
      [{ sort_by: [{ field: 'inputs.n', direction: 'desc' }], limit: 2 }, ['a', 'b']],
      [{ sort_by: [{ field: 'ended_at', direction: 'asc' }] }, ['c', 'a', 'b']],
      [{ sort_by: [{ field: 'ended_at', direction: 'desc' }] }, ['a', 'c', 'b']],
      [{ sort_by: [{ field: 'summary.weave.latency_ms', direction: 'asc' }] }, ['c', 'a', 'b']],
      [{ sort_by: [{ field: 'summary.weave.status', direction: 'asc' }] }, ['a', 'b', 'c']],
      [{ sort_by: [{ field: 'summary.weave.trace_name', direction: 'desc' }] }, ['b', 'c', 'a']],
      [{ filter: {} }, ['c', 'a', 'b']],
      [{ filter: { thread_ids: [] } }, ['c', 'a', 'b']],
      [{ filter: { thread_ids: ['th'] } }, ['c']],
      [{ filter: { op_names: ['x'] } }, ['b']],
      [{ filter: { call_ids: ['b', 'c', 'gone', 'no-start', 'foreign'] } }, ['c', 'b']],
      [{ filter: { trace_roots_only: true } }, ['c', 'a', 'b']],
      [{ filter: { parent_ids: ['p'] } }, ['a']],
      [{ filter: { trace_ids: ['t-a'] }, limit: 5 }, ['a']],
      [{ filter: null, query: null, sort_by: null, columns: null, limit: null }, ['c', 'a', 'b']],
    ])('%j selects %j', async (query, expected) => {
      const app = await buildTestApp()
      await seed(app)
      expect(ids(await list(app, query))).toEqual(expected)
    })

    it('gives the columns that are asked for, and always the first five', async () => {
      const app = await buildTestApp()
      await seed(app)
      const [call] = await list(app, {
        columns: ['output.list', 'exception'],
        filter: { call_ids: ['a'] },
      })
      expect(Object.keys(call).sort()).toEqual([
        'attributes',
        'exception',
        'id',
        'inputs',
        'op_name',
        'output',
        'project_id',
        'started_at',
        'trace_id',
      ])
      expect(call).toMatchObject({ inputs: {}, output: { list: [{ v: 1 }] }, exception: 'Boom' })
      const [inputs] = await list(app, { columns: ['inputs'], filter: { call_ids: ['a'] } })
      expect(inputs).toMatchObject({ inputs: { n: 10, s: 'alpha' } })
      expect('output' in inputs).toBe(false)
    })

    it('returns the end of a call with its summary', async () => {
      const app = await buildTestApp()
      await seed(app)
      const query = { columns: ['id', 'summary'], filter: { call_ids: ['a'] } }
      const [call] = await list(app, query, `/traces${url}`)
      expect(call).toMatchObject({ ended_at: '2026-01-01T00:00:05.000000Z', exception: 'Boom' })
    })

    it('finds runs by their names, with and without the project', async () => {
      const app = await buildTestApp()
      await start(app, 'a', { svc_run_id: 'run' })
      await start(app, 'b', { svc_run_id: 'acme/demo/run' })
      await start(app, 'c', { svc_run_id: 'acme/other/run' })
      for (const run of ['run', 'acme/demo/run']) {
        expect(ids(await list(app, { filter: { svc_run_ids: [run] } }))).toEqual(['a', 'b'])
      }
    })

    it('puts values for the refs of expanded columns, level by level', async () => {
      const app = await buildTestApp()
      const publish = async (object_id: string, val: unknown, project_id = PROJECT) => {
        const { body } = await app.post('/obj/create', { obj: { project_id, object_id, val } })
        return `weave:///${project_id}/object/${object_id}:${body.digest}`
      }
      const rows = [{ q: 1.0 }, { q: 2 }]
      const table = await app.post('/table/create', { table: { project_id: PROJECT, rows } })
      const { digest, row_digests } = table.body
      const data = await publish('data', { rows: `weave:///${PROJECT}/table/${digest}` })
      const row = `${data}/attr/rows/id/${row_digests[1]}`
      const inner = await publish('inner', { n: 1 })
      const [cell, gap] = [`${row}/key/q`, `${inner}/attr/none`]
      const outer = await publish('outer', { deep: { inner }, same: inner })
      const far = await publish('far', { n: 1 }, 'acme/other')
      const none = `weave:///${PROJECT}/object/none:v0`
      const call_ref = `weave:///${PROJECT}/call/a`
      await start(app, 'a', { inputs: { outer, row, cell, gap, far, none, call_ref, plain: 'x' } })
      await end(app, 'a', { output: inner })
      const expand_columns = [
        ...['inputs.outer.deep.inner', 'inputs.outer', 'inputs.row', 'inputs.far', 'inputs.none'],
        ...['inputs.call_ref', 'inputs.plain', 'inputs.not.there', 'output'],
        ...['inputs.cell', 'inputs.gap'],
      ]
      const key = await app.createKey({ projects: [PROJECT] })
      const ask = async (fields: object) =>
        JSON.parse((await app.post(url, { project_id: PROJECT, ...fields }, { key })).text)
      const call = await ask({ expand_columns })
      expect(call.inputs).toEqual({
        outer: { deep: { inner: { n: 1, _ref: inner } }, same: inner, _ref: outer },
        row: { q: 2, _ref: row },
        cell: 2,
        gap,
        far,
        none,
        call_ref,
        plain: 'x',
      })
      expect(call.output).toEqual({ n: 1, _ref: inner })
      const kept = await ask({ expand_columns, return_expanded_column_values: false })
      expect(kept.inputs).toMatchObject({ outer, row })
      const narrow = await ask({ expand_columns, columns: ['output'] })
      expect([narrow.inputs, narrow.output]).toEqual([{}, { n: 1, _ref: inner }])
      const q = { $eq: [{ $getField: 'inputs.row.q' }, { $literal: 2 }] }
      const counted = { project_id: PROJECT, query: { $expr: q }, expand_columns }
      expect((await app.post('/calls/query_stats', counted)).body.count).toBe(1)
    })

    it('takes vendor names in columns, sorts and filters below /traces', async () => {
      const app = await buildTestApp()
      await start(app, 'a', { svc_run_id: 'r2' })
      await start(app, 'b', { svc_run_id: 'r1' })
      const query = {
        columns: ['wb_run_id'],
        sort_by: [{ field: 'wb_run_id', direction: 'asc' }],
        filter: { wb_user_ids: ['u-1'] },
        query: {
          $expr: { $contains: { input: { $getField: 'wb_run_id' }, substr: { $literal: 'r' } } },
        },
        latest_only: false,
      }
      const calls = await list(app, query, `/traces${url}`)
      expect(calls.map(({ wb_run_id }) => wb_run_id)).toEqual(['r1', 'r2'])
    })

    it('fills sizes, costs and feedback when they are asked for', async () => {
      const app = await buildTestApp()
      const usage = { 'gpt-4o': { prompt_tokens: 1000, completion_tokens: 10 } }
      await start(app, 'a', { trace_id: 't' })
      await end(app, 'a', { summary: { usage, weave: { feedback: 'mine', kept: 1 } } })
      await start(app, 'b', { trace_id: 't' })
      for (const score of [1, 2]) {
        const response = await app.post('/traces/feedback/create', {
          project_id: PROJECT,
          weave_ref: `weave:///${PROJECT}/call/a`,
          feedback_type: 'score',
          payload: { score, svc_user_id: 'mine' },
        })
        expect(response.status).toBe(200)
      }
      const read = (
        await app.post('/call/read', {
          project_id: PROJECT,
          id: 'a',
          include_costs: true,
          include_storage_size: true,
          include_total_storage_size: true,
        })
      ).body.call
      const asked = {
        include_costs: true,
        include_feedback: true,
        include_storage_size: true,
        include_total_storage_size: true,
      }
      const [call, other] = await list(app, asked)
      expect(call.summary.weave.feedback).toMatchObject([
        { feedback_type: 'score', svc_user_id: 'u-1', payload: { score: 1, svc_user_id: 'mine' } },
        { payload: { score: 2 } },
      ])
      const { feedback: _feedback, ...weave } = call.summary.weave
      expect({ ...call, summary: { ...call.summary, weave } }).toEqual(read)
      expect(weave.costs['gpt-4o']).toBeDefined()
      expect(other.summary.weave.feedback).toEqual([])
      const [vendor] = await list(app, { ...asked, columns: ['id'] }, `/traces${url}`)
      expect(vendor.summary.weave.feedback[0]).toMatchObject({
        wb_user_id: 'u-1',
        payload: { svc_user_id: 'mine' },
      })
      const [bare] = await list(app)
      expect(bare.summary.weave).toMatchObject({ kept: 1 })
      expect(bare.summary.weave).not.toHaveProperty('feedback')
      expect(bare).toMatchObject({ storage_size_bytes: null, total_storage_size_bytes: null })
    })

    it('finds and sorts calls by what they cost, at the prices of the project, as a read shows it', async () => {
      const app = await buildTestApp()
      for (const [id, tokens] of [
        ['a', 1000],
        ['b', 3000],
        ['c', 10],
      ] as const) {
        await start(app, id)
        await end(app, id, { summary: { usage: { mine: { prompt_tokens: tokens } } } })
      }
      const field = 'summary.weave.total_cost'
      const query = { $expr: { $gte: [{ $getField: field }, { $literal: 2 }] } }
      const sort_by = [{ field, direction: 'desc' }]
      expect(await list(app, { query })).toEqual([])
      const price = { prompt_token_cost: 0.002, completion_token_cost: 0 }
      const costs = { mine: { ...price, effective_date: '2020-01-01T00:00:00Z' } }
      expect((await app.post('/cost/create', { project_id: PROJECT, costs })).status).toBe(200)
      const found = await list(app, { query, sort_by, include_costs: true })
      expect(ids(found)).toEqual(['b', 'a'])
      expect(found.map(({ summary }) => summary.weave.total_cost)).toEqual([6, 2])
      expect(ids(await list(app, { sort_by, limit: 1, offset: 2 }))).toEqual(['c'])
      const counted = await app.post('/calls/query_stats', { project_id: PROJECT, query })
      expect(counted.body.count).toBe(2)
    })

    it('streams more calls than one slice holds, large ones too', async () => {
      const app = await buildTestApp()
      const batch = Array.from({ length: 350 }, (_, n) => ({
        ...STARTED,
        ...ENDED,
        summary: {},
        id: `c${String(n).padStart(3, '0')}`,
        trace_id: 't',
        ...(n % 90 === 0 ? { inputs: { text: 'x'.repeat(600_000) } } : {}),
      }))
      await app.post('/v2/acme/demo/calls/complete', { batch })
      expect(ids(await list(app))).toEqual(batch.map(({ id }) => id))
    })
  })
})
