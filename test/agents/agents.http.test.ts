/** Agents and their versions, over spans that came as OpenTelemetry, and who may ask. */
import { beforeEach, describe, expect, it } from 'vitest'
import { resolveScope } from '../../src/domain/agents/span-scope.ts'
import { buildSpan, spanId, toJsonRequest } from '../otel/otel-fixtures.ts'
import { describeEachStore } from '../store/clickhouse/describe-each-store.ts'
import type { TestApp } from '../support/build-test-app.ts'
import { readCaller } from '../support/read-caller.ts'
import { askAgents, at, buildAgentsApp, PROJECT, traceId } from './agents-fixtures.ts'

let test: TestApp
const ask = (path: string, body: object = {}) => askAgents(test, path, body)

describeEachStore('agents', (build) => {
  beforeEach(async () => {
    test = await buildAgentsApp(build)
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

    it('list versions separately, in the requested order, in pages', async () => {
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
          trace_id,
          span_id: spanId(id),
          parent_span_id: parent === null ? null : spanId(parent),
          start_ns: at(id),
          attributes: attributes as Record<string, unknown>,
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

  describe('a reader who has left', () => {
    it('stops reads of many spans', async () => {
      const caller = readCaller({ signal: AbortSignal.abort() })
      const scope = resolveScope({ project_id: PROJECT })
      const page = { offset: 0, limit: 10 }
      const { read } = test.deps.agents
      const search = { text: '', roles: null, isCut: true, ...page }
      const of = { conversation_id: 'c1', ...page }
      const turns = { project_id: PROJECT, of, withModelToolCalls: false, prices: [] }
      for (const reading of [
        read('attributes', { scope, plan: page }, caller),
        read('messages', { scope, plan: search }, caller),
        read('turns', turns, caller),
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
