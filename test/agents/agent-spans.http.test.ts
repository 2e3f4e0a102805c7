/** Spans as a list: queries, orders, groups. */
import { beforeEach, describe, expect, it } from 'vitest'
import { buildSpan, spanId, toJsonRequest } from '../otel/otel-fixtures.ts'
import { endOf, startOf } from '../store/calls/call-store-contract.ts'
import { describeEachStore } from '../store/clickhouse/describe-each-store.ts'
import type { TestApp } from '../support/build-test-app.ts'
import {
  askAgents,
  at,
  buildAgentsApp,
  equals,
  field,
  PROJECT,
  traceId,
} from './agents-fixtures.ts'

let test: TestApp
const ask = (path: string, body: object = {}) => askAgents(test, path, body)

describeEachStore('agents', (build) => {
  beforeEach(async () => {
    test = await buildAgentsApp(build)
  })

  describe('POST /agents/spans/query', () => {
    it('lists spans alone, the newest first, without messages', async () => {
      const { body } = await ask('spans/query', { limit: 2, include_costs: true })
      expect(body.total_count).toBe(9)
      expect(body.groups).toEqual([])
      expect(body.spans).toMatchObject([
        {
          span_id: spanId(36),
          parent_span_id: spanId(33),
          trace_id: traceId(2),
          operation_name: 'chat',
          conversation_id: 'c1',
          provider_name: 'openai',
          request_model: 'gpt-4o-mini',
          input_tokens: 200,
          output_tokens: 10,
          status_code: 'UNSET',
          span_kind: 'INTERNAL',
          finish_reasons: ['stop'],
          input_messages: [],
          raw_span_dump: null,
          custom_attrs_string: {},
          total_cost_usd: 0.000036,
        },
        { span_id: spanId(35), tool_name: 'add', tool_call_result: null, status_code: 'ERROR' },
      ])
    })

    it('lists spans of one microsecond by their nanoseconds, over the ends of pages', async () => {
      const trace_id = traceId(8)
      const begun = [900n, 100n, 500n, 1100n].map((ns, index) =>
        buildSpan({ trace_id, span_id: spanId(800 + index), start_ns: at(0) + ns }),
      )
      await test.post('/v1/traces', toJsonRequest(begun), { headers: { project_id: PROJECT } })
      const query = equals('trace_id', trace_id)
      const list = async (page: object) => {
        const { body } = await ask('spans/query', { query, ...page })
        return body.spans.map(({ span_id }: { span_id: string }) => span_id)
      }
      const sort_by = [{ field: 'started_at', direction: 'asc' }]
      expect(await list({})).toEqual([803, 800, 802, 801].map(spanId))
      expect(await list({ sort_by })).toEqual([801, 802, 800, 803].map(spanId))
      expect(await list({ sort_by, offset: 1, limit: 1 })).toEqual([spanId(802)])
    })

    it('lists spans of a time by their nanoseconds, over the ends of pages, with all counted', async () => {
      const trace_id = traceId(8)
      const begun = [900n, 100n, 500n, 1100n].map((ns, index) =>
        buildSpan({ trace_id, span_id: spanId(800 + index), start_ns: at(5) + ns }),
      )
      await test.post('/v1/traces', toJsonRequest(begun), { headers: { project_id: PROJECT } })
      const time = (ms: number) => new Date(Number(at(ms) / 1_000_000n)).toISOString()
      const list = async (page: object) => {
        const window = { started_after: time(0), started_before: time(6) }
        const { body } = await ask('spans/query', { ...window, ...page })
        expect(body.total_count).toBe(5)
        return body.spans.map(({ span_id }: { span_id: string }) => span_id)
      }
      const all = [900, 801, 802, 800, 803]
      const sort_by = [{ field: 'started_at', direction: 'asc' }]
      expect(await list({ sort_by })).toEqual(all.map(spanId))
      expect(await list({})).toEqual(all.toReversed().map(spanId))
      for (const [offset, id] of all.entries()) {
        expect(await list({ sort_by, offset, limit: 1 })).toEqual([spanId(id)])
        expect(await list({ offset: 4 - offset, limit: 1 })).toEqual([spanId(id)])
      }
      expect(await list({ offset: 5 })).toEqual([])
    })

    it('shows the end of a span that came by itself', async () => {
      const id = { project_id: PROJECT, id: 'late' }
      const otel_dump = { name: 'late', attributes: { team: 'red' } }
      const started_at = '2023-11-14T22:00:00Z'
      await test.deps.calls.startCall(startOf({ ...id, otel_dump, started_at }))
      const started_before = '2023-11-14T22:00:01Z'
      const list = async () => (await ask('spans/query', { started_before })).body
      expect((await list()).spans).toMatchObject([{ span_id: 'late', ended_at: null }])
      await test.deps.calls.endCall(endOf({ ...id, ended_at: '2023-11-14T22:00:07Z' }))
      expect((await list()).spans).toMatchObject([
        { span_id: 'late', ended_at: expect.stringContaining('22:00:07') },
      ])
    })

    it('shows a span with its op where a client sent a name that is no text', async () => {
      const otel_dump = { name: { a: 1 }, kind: 'x', status: 7, events: 1, attributes: {} }
      const started_at = '2023-11-14T22:00:00Z'
      await test.deps.calls.startCall(startOf({ id: 'odd', otel_dump, started_at }))
      const request = { started_before: '2023-11-14T22:00:01Z', include_details: true }
      const { body } = await ask('spans/query', request)
      expect(body.spans).toMatchObject([{ span_id: 'odd', span_name: 'predict' }])
    })

    it('adds up tokens exactly, beyond 2^53', async () => {
      const attributes = {
        'gen_ai.agent.name': 'huge',
        'gen_ai.operation.name': 'chat',
        'gen_ai.conversation.id': 'huge',
        'gen_ai.usage.input_tokens': 2 ** 53,
        'gen_ai.usage.output_tokens': '1e308',
      }
      const trace_id = traceId(8)
      const spans = [1, 2].map((n) => buildSpan({ trace_id, span_id: spanId(800 + n), attributes }))
      await test.post('/v1/traces', toJsonRequest(spans), { headers: { project_id: PROJECT } })
      const query = equals('agent_name', 'huge')
      const sums = { total_input_tokens: 2 ** 54 - 2, total_output_tokens: 2 ** 54 - 2 }
      const group_by = [{ source: 'field', key: 'agent_name' }]
      expect((await ask('spans/query', { query, group_by })).body.groups).toMatchObject([sums])
      expect((await ask('query')).body.agents).toContainEqual(expect.objectContaining(sums))
      expect((await ask('traces/chat', { trace_id })).body).toMatchObject(sums)
      const { body } = await ask('conversations/chat', { conversation_id: 'huge' })
      expect(body.turns).toMatchObject([sums])
    })

    it('leaves out calls that were deleted', async () => {
      const call_ids = [spanId(36)]
      expect((await test.post('/calls/delete', { project_id: PROJECT, call_ids })).status).toBe(200)
      const { body } = await ask('spans/query', { limit: 1 })
      expect([body.total_count, body.spans[0].span_id]).toEqual([8, spanId(35)])
    })

    it('groups by fields in the names of the vendor', async () => {
      const group_by = [{ source: 'field', key: 'wb_user_id' }]
      const sort_by = [{ field: 'wb_user_id', direction: 'asc' }]
      const { body } = await test.post('/traces/agents/spans/query', {
        project_id: PROJECT,
        group_by,
        sort_by,
      })
      expect(body.groups).toMatchObject([{ group_keys: { wb_user_id: expect.any(String) } }])
      const stats = await test.post('/traces/agents/spans/stats', {
        project_id: PROJECT,
        start: '2023-11-14T22:13:30Z',
        end: '2023-11-14T22:13:40Z',
        group_by,
        granularity: 10,
        metrics: [
          {
            alias: 'users',
            value: { source: 'field', key: 'wb_user_id' },
            value_type: 'string',
          },
        ],
      })
      expect(stats.body.columns[1]).toMatchObject({ name: 'wb_user_id', role: 'group' })
      expect(stats.body.rows[0]).toMatchObject({ wb_user_id: expect.any(String), count_users: 4 })
      const unsourced = await test.post('/traces/agents/spans/query', {
        project_id: PROJECT,
        group_by: [{ key: 'wb_user_id' }],
      })
      expect(unsourced.body.groups).toEqual(body.groups)
      const attribute = [{ source: 'custom_attrs_string', key: 'wb_user_id' }]
      const own = await test.post('/traces/agents/spans/query', {
        project_id: PROJECT,
        group_by: attribute,
      })
      expect(own.body.groups).toMatchObject([{ group_keys: { wb_user_id: null } }])
    })

    it('shows everything with details', async () => {
      const query = equals('retries', 1)
      const { body } = await ask('spans/query', { query, include_details: true })
      const [span] = body.spans
      expect(body.spans).toHaveLength(1)
      expect(span).toMatchObject({
        input_messages: [{ role: 'user', content: 'What is one?', finish_reason: '' }],
        output_messages: [{ role: 'assistant', content: 'answer 1' }],
        custom_attrs_string: { team: 'blue' },
        custom_attrs_int: { retries: 1 },
        custom_attrs_float: { ratio: 0.5 },
        custom_attrs_bool: { done: true },
      })
      expect(JSON.parse(span.raw_span_dump)).toMatchObject({ name: 'invoke_agent helper' })
    })

    it('a query by columns, attributes, derived values and times', async () => {
      const cases: [string, object, number][] = [
        ['a column', equals('agent_name', 'helper'), 8],
        ['a column of its own', equals('agent_description', 'x'), 0],
        ['an attribute of the conventions', equals('gen_ai.tool.name', 'add'), 2],
        ['an attribute of the span', equals('team', 'blue'), 2],
        ['one by its type', equals('custom_attrs_int.retries', 2), 1],
        ['a derived value', equals('is_error', true), 1],
        ['a trace', equals('trace_id', traceId(2)), 4],
        ['whether it runs an agent', equals('is_invocation', true), 2],
        ['what is not there', equals('nothing', 'x'), 0],
        ['what every object of the language has', equals('constructor', false), 0],
        [
          'a time',
          { $expr: { $lt: [field('started_at'), { $literal: '2023-11-14T22:13:25Z' }] } },
          1,
        ],
        [
          'an end',
          { $expr: { $gt: [field('ended_at'), { $literal: '2023-11-14T22:13:40.7Z' }] } },
          2,
        ],
      ]
      for (const [title, query, total] of cases) {
        expect((await ask('spans/query', { query })).body.total_count, title).toBe(total)
      }
    })

    it('a window, an order and attributes of choice', async () => {
      const { body } = await ask('spans/query', {
        started_after: '2023-11-14T22:13:30Z',
        started_before: '2023-11-14T22:13:40Z',
        sort_by: [{ field: 'duration_ms', direction: 'desc' }],
        custom_attr_columns: [{ source: 'custom_attrs_string', key: 'team' }],
      })
      expect(body.spans.map(({ span_id }: { span_id: string }) => span_id)).toEqual(
        [17, 20, 18, 19].map(spanId),
      )
      expect(body.spans[0]).toMatchObject({
        custom_attrs_string: { team: 'blue' },
        custom_attrs_int: {},
      })
    })

    it('groups spans, with measures over them', async () => {
      const { body } = await ask('spans/query', {
        group_by: [{ key: 'conversation_id' }],
        measures: [
          { alias: 'calls', aggregation: 'count', filter: equals('operation_name', 'chat') },
          { alias: 'mean', aggregation: 'avg', value: { key: 'input_tokens' } },
          { alias: 'tools', aggregation: 'count_distinct', value: { key: 'tool_name' } },
          {
            alias: 'failed',
            aggregation: 'count_true',
            value: { source: 'derived', key: 'is_error' },
          },
          { alias: 'last', aggregation: 'max', value: { key: 'started_at' } },
        ],
        include_costs: true,
      })
      expect(body).toMatchObject({ spans: [], total_count: 2 })
      expect(body.groups[0]).toEqual({
        group_keys: { conversation_id: 'c1' },
        metrics: { calls: 4, mean: 150, tools: 1, failed: 1, last: '2023-11-14T22:13:40.500000Z' },
        distributions: {},
        span_count: 8,
        invocation_count: 2,
        conversation_count: 1,
        error_count: 1,
        total_input_tokens: 600,
        total_output_tokens: 40,
        total_reasoning_tokens: 0,
        total_cache_read_input_tokens: 0,
        total_cache_creation_input_tokens: 0,
        total_duration_ms: 3000,
        total_input_cost_usd: expect.closeTo(0.00009, 9),
        total_output_cost_usd: expect.closeTo(0.000024, 9),
        total_cost_usd: expect.closeTo(0.000114, 9),
        agent_names: ['helper'],
        agent_versions: ['v1', 'v2'],
        provider_names: ['openai'],
        request_models: ['gpt-4o-mini'],
        conversation_names: ['talk'],
        first_seen: '2023-11-14T22:13:30.000000Z',
        last_seen: '2023-11-14T22:13:40.500000Z',
        first_message: { role: 'user_message', text: 'What is one?' },
        last_message: { role: 'assistant_message', text: 'answer 2' },
      })
      expect(body.groups[1].group_keys).toEqual({ conversation_id: null })
    })

    it('sorts groups by a measure, and equal ones by their keys', async () => {
      const { body } = await ask('spans/query', {
        group_by: [{ key: 'operation_name' }, { key: 'trace_id' }],
        query: { $expr: { $eq: [field('conversation_id'), { $literal: 'c1' }] } },
        measures: [{ alias: 'spans', aggregation: 'count' }],
        sort_by: [{ field: 'spans', direction: 'desc' }],
      })
      const keys = body.groups.map(({ group_keys }: { group_keys: object }) =>
        Object.values(group_keys),
      )
      const [one, two] = [traceId(1), traceId(2)]
      expect(keys).toEqual([
        ...[
          ['chat', one],
          ['chat', two],
          ['execute_tool', one],
          ['execute_tool', two],
        ],
        ...[
          ['invoke_agent', one],
          ['invoke_agent', two],
        ],
      ])
    })

    it('refuses what it cannot answer, by its name', async () => {
      const cases: [string, object, string][] = [
        [
          'another type than that of the value',
          {
            group_by: [{ key: 'agent_name' }],
            measures: [
              {
                alias: 'a',
                aggregation: 'count',
                value: { key: 'tool_name' },
                value_type: 'number',
              },
            ],
          },
          'measures[0]',
        ],
        ['an unknown field to group by', { group_by: [{ key: 'nope' }] }, 'group_by[0].key'],
        [
          'a sum of texts',
          {
            group_by: [{ key: 'agent_name' }],
            measures: [{ alias: 'a', aggregation: 'sum', value: { key: 'tool_name' } }],
          },
          'measures[0].aggregation',
        ],
        [
          'a sum of nothing',
          { group_by: [{ key: 'agent_name' }], measures: [{ alias: 'a', aggregation: 'sum' }] },
          'measures[0]',
        ],
        [
          'measures without groups',
          { measures: [{ alias: 'a', aggregation: 'count' }] },
          'measures',
        ],
        ['two of one name', { group_by: [{ key: 'agent_name' }, { key: 'agent.name' }] }, 'alias'],
        [
          'insights',
          { insight_filters: [{ field: 'intent_category', values: ['x'] }] },
          'insight_filters',
        ],
        ['a page that is too long', { limit: 1001 }, 'limit'],
      ]
      for (const [title, body, param] of cases) {
        expect(await ask('spans/query', body), title).toMatchObject({
          status: 422,
          body: { error: { param } },
        })
      }
    })

    it('says that filters by signals are not supported, but takes null', async () => {
      for (const signal_filters of [{ tags: ['x'] }, ['x'], []]) {
        expect(await ask('spans/query', { signal_filters })).toMatchObject({
          status: 422,
          body: {
            error: {
              param: 'signal_filters',
              message: 'signal_filters is not supported: there are no signals',
            },
          },
        })
      }
      expect(await ask('spans/query', { signal_filters: null })).toMatchObject({ status: 200 })
    })
  })
})
