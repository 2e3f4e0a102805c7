/** Agents, their spans and turns, over spans that came as OpenTelemetry. */
import { beforeEach, describe, expect, it } from 'vitest'
import { resolveScope } from '../../src/domain/agents/span-scope.ts'
import type { Span } from '../../src/domain/otel/span.ts'
import { buildSpan, spanId, toJsonRequest } from '../otel/otel-fixtures.ts'
import { endOf, startOf } from '../store/call-store-contract.ts'
import { describeEachStore } from '../store/clickhouse/describe-each-store.ts'
import type { TestApp } from '../support/build-test-app.ts'
import { readCaller } from '../support/read-caller.ts'

const PROJECT = 'acme/demo'
const START_NS = 1_700_000_000_000_000_000n
const traceId = (number: number) => number.toString(16).padStart(32, '0')
const at = (ms: number) => START_NS + BigInt(ms) * 1_000_000n
const text = (role: string, content: string) =>
  JSON.stringify([{ role, parts: [{ type: 'text', content }] }])

/** A turn of the conversation c1: an agent that asks a model twice and runs a tool in between. */
function buildTurn(turn: number, question: string): Span[] {
  const conversation = { 'gen_ai.conversation.id': 'c1', 'gen_ai.conversation.name': 'talk' }
  const ids = (number: number, parent: number | null) => ({
    trace_id: traceId(turn),
    span_id: spanId(turn * 16 + number),
    parent_span_id: parent === null ? null : spanId(turn * 16 + parent),
  })
  const times = (from: number, to: number) => ({
    start_ns: at(turn * 10_000 + from),
    end_ns: at(turn * 10_000 + to),
  })
  const chat = (input: string, output: string, tokens: number) => ({
    ...conversation,
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'gpt-4o-mini',
    'gen_ai.input.messages': text('user', input),
    'gen_ai.output.messages': output,
    'gen_ai.usage.input_tokens': tokens,
    'gen_ai.usage.output_tokens': 10,
    'gen_ai.response.finish_reasons': ['stop'],
  })
  const asksTool = JSON.stringify([
    {
      role: 'assistant',
      parts: [{ type: 'tool_call', id: 't', name: 'add', arguments: { a: 1 } }],
    },
  ])
  return [
    buildSpan({
      ...ids(1, null),
      ...times(0, 900),
      name: 'invoke_agent helper',
      attributes: {
        ...conversation,
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'helper',
        'gen_ai.agent.version': `v${turn}`,
        'gen_ai.input.messages': text('user', question),
        'gen_ai.output.messages': text('assistant', `answer ${turn}`),
        team: 'blue',
        retries: turn,
        ratio: 0.5,
        done: true,
      },
    }),
    buildSpan({
      ...ids(2, 1),
      ...times(100, 300),
      name: 'chat',
      attributes: chat(question, asksTool, 100),
    }),
    buildSpan({
      ...ids(3, 1),
      ...times(300, 400),
      name: 'execute_tool add',
      attributes: {
        ...conversation,
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'add',
        'gen_ai.tool.call.arguments': '{"a":1}',
        'gen_ai.tool.call.result': `tool says ${turn}`,
      },
      ...(turn === 2 ? { status: { code: 2, message: 'broken' } } : {}),
    }),
    buildSpan({
      ...ids(4, 1),
      ...times(500, 800),
      name: 'chat',
      attributes: chat(question, text('assistant', `answer ${turn}`), 200),
    }),
  ]
}

let test: TestApp
const ask = (path: string, body: object = {}) =>
  test.post(`/agents/${path}`, { project_id: PROJECT, ...body })
const field = (name: string) => ({ $getField: name })
const equals = (name: string, value: unknown) => ({
  $expr: { $eq: [field(name), { $literal: value }] },
})

describeEachStore('agents', (build) => {
  beforeEach(async () => {
    test = await build()
    const spans = [...buildTurn(1, 'What is one?'), ...buildTurn(2, 'What is two?')]
    const lone = buildSpan({ trace_id: traceId(9), span_id: spanId(900), start_ns: at(0) })
    const headers = { project_id: PROJECT }
    for (const list of [spans.toReversed(), [lone]]) {
      expect((await test.post('/v1/traces', toJsonRequest(list), { headers })).body).toEqual({})
    }
    await test.post('/call/start', {
      start: {
        ...{ project_id: PROJECT, id: 'no-span', op_name: 'op', thread_id: 'c1' },
        ...{ started_at: '2023-11-14T22:13:21Z', attributes: {}, inputs: {} },
      },
    })
  })

  describe('POST /agents/query and /agents/agent-versions/query', () => {
    it('count the spans that name an agent, and the tokens of the model calls below them', async () => {
      const { status, body } = await ask('query', { include_costs: true })
      expect(status).toBe(200)
      expect(body.total_count).toBe(1)
      expect(body.agents).toEqual([
        {
          project_id: PROJECT,
          agent_name: 'helper',
          invocation_count: 2,
          span_count: 2,
          error_count: 0,
          total_input_tokens: 600,
          total_output_tokens: 40,
          total_duration_ms: 1800,
          total_cost_usd: expect.closeTo(0.000114, 9),
          first_seen: '2023-11-14T22:13:30.000000Z',
          last_seen: '2023-11-14T22:13:40.000000Z',
        },
      ])
      const none = await ask('query', { filters: { agent_name: 'nobody' } })
      expect(none.body).toEqual({ agents: [], total_count: 0 })
    })

    it('tell versions apart, in the asked order, by pages', async () => {
      const sort_by = [{ field: 'agent_version', direction: 'desc' }]
      const { body } = await ask('agent-versions/query', {
        agent_name: 'helper',
        sort_by,
        limit: 1,
      })
      expect(body.total_count).toBe(2)
      expect(body.versions).toMatchObject([
        { agent_version: 'v2', span_count: 1, total_input_tokens: 300 },
      ])
    })

    it('counts each token once, for the nearest agent', async () => {
      const trace_id = traceId(7)
      const span = (id: number, parent: number | null, attributes: object) =>
        buildSpan({
          ...{
            trace_id,
            span_id: spanId(id),
            parent_span_id: parent === null ? null : spanId(parent),
          },
          ...{ start_ns: at(id), attributes: attributes as Record<string, unknown> },
        })
      const usage = (tokens: number) => ({ 'gen_ai.usage.input_tokens': tokens })
      const agent = (name: string) => ({
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': name,
      })
      const chat = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm' }
      const spans = [
        span(700, null, { ...agent('outer'), ...usage(111) }),
        span(701, 700, { ...chat, ...usage(10) }),
        span(702, 700, { ...agent('inner'), ...usage(101) }),
        // A library's own span around that of another one, which reports the same.
        span(703, 702, { ...chat, ...usage(100) }),
        span(704, 703, { ...chat, ...usage(100) }),
        span(705, 700, { 'gen_ai.operation.name': 'execute_tool' }),
        span(706, 705, { ...chat, 'gen_ai.agent.name': 'helper', ...usage(1) }),
        span(707, 700, { ...agent('reporter'), ...usage(5) }),
      ]
      const { body: stored } = await test.post('/v1/traces', toJsonRequest(spans), {
        headers: { project_id: PROJECT },
      })
      expect(stored).toEqual({})
      const { body } = await ask('query')
      const tokens = body.agents.map((one: { agent_name: string; total_input_tokens: number }) => [
        one.agent_name,
        one.total_input_tokens,
      ])
      expect(Object.fromEntries(tokens)).toEqual({
        outer: 10,
        inner: 100,
        reporter: 5,
        helper: 601,
      })
      const inner = await ask('query', { filters: { agent_name: 'inner' } })
      expect(inner.body.agents).toMatchObject([{ agent_name: 'inner', total_input_tokens: 100 }])
    })
  })

  describe('POST /agents/spans/query', () => {
    it('lists spans alone, the newest first, without messages', async () => {
      const { body } = await ask('spans/query', { limit: 2, include_costs: true })
      expect(body.total_count).toBe(9)
      expect(body.groups).toEqual([])
      expect(body.spans).toMatchObject([
        {
          ...{ span_id: spanId(36), parent_span_id: spanId(33), trace_id: traceId(2) },
          ...{ operation_name: 'chat', conversation_id: 'c1', provider_name: 'openai' },
          ...{ request_model: 'gpt-4o-mini', input_tokens: 200, output_tokens: 10 },
          ...{ status_code: 'UNSET', span_kind: 'INTERNAL', finish_reasons: ['stop'] },
          ...{ input_messages: [], raw_span_dump: null, custom_attrs_string: {} },
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
        ...{ project_id: PROJECT, group_by, sort_by },
      })
      expect(body.groups).toMatchObject([{ group_keys: { wb_user_id: expect.any(String) } }])
      const stats = await test.post('/traces/agents/spans/stats', {
        ...{ project_id: PROJECT, start: '2023-11-14T22:13:30Z', end: '2023-11-14T22:13:40Z' },
        ...{ group_by, granularity: 10 },
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
      const attribute = [{ source: 'custom_attrs_string', key: 'wb_user_id' }]
      const own = await test.post('/traces/agents/spans/query', {
        ...{ project_id: PROJECT, group_by: attribute },
      })
      expect(own.body.groups).toMatchObject([{ group_keys: { wb_user_id: null } }])
    })

    it('shows everything with details', async () => {
      const query = equals('agent.version', 'v1')
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
        ['a column', equals('agent_name', 'helper'), 2],
        ['an attribute of the conventions', equals('gen_ai.tool.name', 'add'), 2],
        ['an attribute of the span', equals('team', 'blue'), 2],
        ['one by its type', equals('custom_attrs_int.retries', 2), 1],
        ['a derived value', equals('is_error', true), 1],
        ['a trace', equals('trace_id', traceId(2)), 4],
        ['what is not there', equals('nothing', 'x'), 0],
        [
          'a time',
          { $expr: { $lt: [field('started_at'), { $literal: '2023-11-14T22:13:25Z' }] } },
          1,
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
        ...{ span_count: 8, invocation_count: 2, conversation_count: 1, error_count: 1 },
        ...{ total_input_tokens: 600, total_output_tokens: 40, total_reasoning_tokens: 0 },
        ...{ total_cache_read_input_tokens: 0, total_cache_creation_input_tokens: 0 },
        total_duration_ms: 3000,
        total_input_cost_usd: expect.closeTo(0.00009, 9),
        total_output_cost_usd: expect.closeTo(0.000024, 9),
        total_cost_usd: expect.closeTo(0.000114, 9),
        ...{ agent_names: ['helper'], agent_versions: ['v1', 'v2'], provider_names: ['openai'] },
        ...{ request_models: ['gpt-4o-mini'], conversation_names: ['talk'] },
        first_seen: '2023-11-14T22:13:30.000000Z',
        last_seen: '2023-11-14T22:13:40.500000Z',
        first_message: { role: 'user_message', text: 'What is one?' },
        last_message: { role: 'assistant_message', text: 'answer 2' },
      })
      expect(body.groups[1].group_keys).toEqual({ conversation_id: null })
    })

    it('refuses what it cannot answer, by its name', async () => {
      const cases: [string, object, string][] = [
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
        ['signals', { signal_filters: { tags: ['x'] } }, 'signal_filters'],
        ['a page that is too long', { limit: 1001 }, 'limit'],
      ]
      for (const [title, body, param] of cases) {
        expect(await ask('spans/query', body), title).toMatchObject({
          status: 422,
          body: { error: { param } },
        })
      }
    })
  })

  describe('POST /agents/spans/stats', () => {
    const window = { start: '2023-11-14T22:13:30Z', end: '2023-11-14T22:14:00Z', granularity: 10 }
    const tokens = {
      alias: 'tokens',
      value: { source: 'derived', key: 'total_tokens' },
      value_type: 'number',
    }

    it('measures by time, every bucket of it', async () => {
      const { status, body } = await ask('spans/stats', {
        ...window,
        metrics: [
          { ...tokens, aggregations: ['sum', 'min', 'count'], percentiles: [50, 99.5] },
          { alias: 'failed', value: { source: 'derived', key: 'is_error' }, value_type: 'boolean' },
        ],
      })
      expect(status).toBe(200)
      expect(body.columns.map(({ name }: { name: string }) => name)).toEqual([
        ...['timestamp', 'sum_tokens', 'min_tokens', 'count_tokens', 'p50_tokens', 'p99_5_tokens'],
        'count_failed',
      ])
      expect(body.rows).toEqual([
        {
          timestamp: '2023-11-14T22:13:30.000000Z',
          sum_tokens: 320,
          min_tokens: 110,
          count_tokens: 2,
          p50_tokens: 160,
          p99_5_tokens: 209.5,
          count_failed: 4,
        },
        {
          timestamp: '2023-11-14T22:13:40.000000Z',
          sum_tokens: 320,
          min_tokens: 110,
          count_tokens: 2,
          p50_tokens: 160,
          p99_5_tokens: 209.5,
          count_failed: 4,
        },
        {
          timestamp: '2023-11-14T22:13:50.000000Z',
          sum_tokens: 0,
          min_tokens: null,
          count_tokens: 0,
          p50_tokens: null,
          p99_5_tokens: null,
          count_failed: 0,
        },
      ])
    })

    it('by group, the largest first', async () => {
      const { body } = await ask('spans/stats', {
        ...{ ...window, granularity: 60, timezone: 'Europe/Berlin' },
        group_by: [{ key: 'operation_name', alias: 'step' }],
        group_limit: 1,
        metrics: [tokens],
      })
      expect(body.timezone).toBe('Europe/Berlin')
      expect(body.rows).toEqual([
        { timestamp: '2023-11-14T22:13:00.000000Z', step: 'chat', sum_tokens: 640 },
      ])
    })

    it('refuses a type that the value has not', async () => {
      const metrics = [{ ...tokens, value_type: 'string' }]
      expect((await ask('spans/stats', { ...window, metrics })).status).toBe(422)
    })
  })

  describe('POST /agents/spans/custom-attrs/schema', () => {
    it('tells which attributes spans carry, by pages', async () => {
      const { body } = await ask('spans/custom-attrs/schema', { limit: 3 })
      expect(body).toEqual({
        attributes: [
          { key: 'done', source: 'custom_attrs_bool', value_type: 'bool', span_count: 2 },
          { key: 'ratio', source: 'custom_attrs_float', value_type: 'float', span_count: 2 },
          { key: 'retries', source: 'custom_attrs_int', value_type: 'int', span_count: 2 },
        ],
        ...{ has_more: true, limit: 3, offset: 0 },
      })
    })
  })

  describe('POST /agents/search', () => {
    it('finds messages by conversation, the newest first', async () => {
      const { body } = await ask('search', { query: 'ANSWER', agent_name: 'helper' })
      expect(body.total_conversations).toBe(1)
      const [found] = body.results
      expect(found).toMatchObject({
        conversation_id: 'c1',
        conversation_name: 'talk',
        agent_name: 'helper',
      })
      expect(found.matched_messages).toMatchObject([
        {
          role: 'assistant',
          content_preview: 'answer 2',
          trace_id: traceId(2),
          span_id: spanId(33),
        },
        { role: 'assistant', content_preview: 'answer 1', trace_id: traceId(1) },
      ])
      expect(found.matched_messages[0].content_digest).toMatch(/^[0-9a-f]{64}$/)
    })

    it('within roles, conversations, traces, models and pages', async () => {
      const cases: [string, object, number][] = [
        ['a role', { query: 'tool says', roles: ['tool_result'] }, 2],
        ['another role', { query: 'tool says', roles: ['user'] }, 0],
        ['a conversation', { query: 'tool says', conversation_id: 'other' }, 0],
        ['a trace', { query: 'tool says', trace_id: traceId(2) }, 1],
        ['a model', { query: 'what is', request_model: 'gpt-4o-mini' }, 4],
        ['a page', { query: '', offset: 1, limit: 2 }, 2],
      ]
      for (const [title, body, count] of cases) {
        const { results } = (await ask('search', body)).body
        const messages = results.flatMap(
          (each: { matched_messages: object[] }) => each.matched_messages,
        )
        expect(messages, title).toHaveLength(count)
      }
    })
  })

  describe('POST /agents/traces/chat', () => {
    it('tells a trace as a chat, each answer once', async () => {
      await test.post('/traces/feedback/create', {
        ...{ project_id: PROJECT, feedback_type: 'note', payload: { note: 'good' } },
        weave_ref: `weave:///${PROJECT}/call/${spanId(20)}`,
      })
      const { status, body } = await ask('traces/chat', {
        trace_id: traceId(1),
        include_feedback: true,
      })
      expect(status).toBe(200)
      expect(body).toMatchObject({
        ...{ trace_id: traceId(1), root_span_name: 'helper', agent_version: 'v1' },
        ...{ total_duration_ms: 900, total_input_tokens: 300, total_output_tokens: 20 },
        ...{ status_code: 'UNSET', feedback: [] },
      })
      expect(body.total_cost_usd).toBeCloseTo(0.000057, 9)
      expect(body.messages.map(({ type }: { type: string }) => type)).toEqual([
        ...['user_message', 'agent_start', 'tool_call', 'assistant_message'],
      ])
      const [question, start, tool, answer] = body.messages
      expect(question.user_message).toEqual({ text: 'What is one?', content_refs: [] })
      expect(start).toMatchObject({ agent_name: 'helper', span_id: spanId(17) })
      expect(tool.tool_call).toMatchObject({
        tool_name: 'add',
        tool_arguments: '{"a":1}',
        tool_result: 'tool says 1',
        duration_ms: 100,
      })
      expect(answer).toMatchObject({
        agent_name: 'helper',
        assistant_message: {
          text: 'answer 1',
          model: 'gpt-4o-mini',
          input_tokens: 200,
          output_tokens: 10,
          duration_ms: 300,
        },
        feedback: [{ feedback_type: 'note', payload: { note: 'good' }, scorer_tags: [] }],
      })
    })

    it('is 404 for a trace without spans', async () => {
      expect((await ask('traces/chat', { trace_id: 'nothing' })).status).toBe(404)
    })
  })

  describe('conversations', () => {
    it('are given in turns, the newest page first', async () => {
      const { body } = await ask('conversations/chat', { conversation_id: 'c1', limit: 1 })
      expect(body).toMatchObject({
        total_turns: 2,
        has_more: true,
        limit: 1,
        offset: 0,
        feedback: null,
      })
      expect(body.turns).toMatchObject([{ trace_id: traceId(2) }])
      const older = await ask('conversations/chat', { conversation_id: 'c1', limit: 1, offset: 1 })
      expect(older.body.turns).toMatchObject([{ trace_id: traceId(1) }])
      expect(older.body.has_more).toBe(false)
      const none = await ask('conversations/chat', { conversation_id: 'other' })
      expect(none.body).toMatchObject({ turns: [], total_turns: 0 })
    })

    it('are given as short spans, with what was marked on them', async () => {
      const weave_ref = `weave:///${PROJECT}/agent_turn/${traceId(2)}`
      const marked = await test.post('/traces/feedback/create', {
        ...{ project_id: PROJECT, feedback_type: 'wandb.agent_user_feedback', weave_ref },
        ...{ payload: { emoji: 'x' }, scorer_tags: ['x'] },
      })
      expect(marked.status).toBe(200)
      const { body } = await ask('conversations/spans', { conversation_ids: ['c1', 'other'] })
      const [found, other] = body.conversations
      expect(found.spans).toHaveLength(8)
      expect(found.spans[0]).toEqual({
        ...{ trace_id: traceId(1), span_id: spanId(17), operation_name: 'invoke_agent' },
        ...{ duration_ms: 900, status: 'UNSET' },
      })
      expect(found.spans_feedback).toEqual([
        {
          feedback_type: 'wandb.agent_user_feedback',
          trace_id: traceId(2),
          tags: ['x'],
          ratings: [],
        },
      ])
      expect(other).toEqual({ conversation_id: 'other', spans: [], spans_feedback: [] })
    })
  })

  describe('a reader who has left', () => {
    it('stops what looks at many spans', async () => {
      const caller = readCaller({ signal: AbortSignal.abort() })
      const scope = resolveScope({ project_id: PROJECT })
      const page = { offset: 0, limit: 10 }
      const { listAttributes, searchMessages, readTurns } = test.deps.agents
      const search = { text: '', roles: null, isCut: true, ...page }
      const of = { conversation_id: 'c1', ...page }
      const turns = { project_id: PROJECT, of, withModelToolCalls: false, prices: [] }
      for (const reading of [
        listAttributes(scope, page, caller),
        searchMessages(scope, search, caller),
        readTurns(turns, caller),
      ]) {
        await expect(reading).rejects.toMatchObject({ code: 'client_closed_request' })
      }
    })
  })

  describe('who may ask', () => {
    it('a reader of the project alone, in both spellings', async () => {
      const cases: [string, object][] = [
        ['query', {}],
        ['agent-versions/query', { agent_name: 'helper' }],
        ['spans/query', {}],
        [
          'spans/stats',
          {
            start: '2023-11-14T22:00:00Z',
            metrics: [{ alias: 'n', value: { key: 'span_id' }, value_type: 'string' }],
          },
        ],
        ['spans/custom-attrs/schema', {}],
        ['search', {}],
        ['traces/chat', { trace_id: traceId(1) }],
        ['conversations/chat', { conversation_id: 'c1' }],
        ['conversations/spans', { conversation_ids: ['c1'] }],
      ]
      for (const [path, body] of cases) {
        const foreign = await test.createKey({ projects: ['other/*'] })
        const writer = await test.createKey({ scopes: ['traces:write'] })
        const sent = { project_id: PROJECT, ...body }
        for (const base of ['/agents', '/traces/agents']) {
          const url = `${base}/${path}`
          expect((await test.post(url, sent, { key: null })).status).toBe(401)
          expect((await test.post(url, sent, { key: foreign })).status).toBe(403)
          expect((await test.post(url, sent, { key: writer })).status).toBe(403)
          expect((await test.post(url, sent)).status).toBe(200)
        }
      }
    })
  })
})
