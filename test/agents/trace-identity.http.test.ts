/** Spans that take their agent and their conversation from their trace. */
import { beforeEach, describe, expect, it } from 'vitest'
import type { AgentSpanGroup, AgentSpanRow } from '../../src/schemas/agents/agent-spans.ts'
import { buildSpan, spanId, toJsonRequest } from '../otel/otel-fixtures.ts'
import { describeEachStore } from '../store/clickhouse/describe-each-store.ts'
import type { TestApp } from '../support/build-test-app.ts'
import { askAgents, at, equals, PROJECT, traceId } from './agents-fixtures.ts'

let test: TestApp
const ask = (path: string, body: object = {}) => askAgents(test, path, body)

/** Number, parent, milliseconds of the start, own attributes. */
type Row = readonly [number, number | null, number, Record<string, unknown>]

const NAMED = {
  'gen_ai.agent.name': 'planner',
  'gen_ai.agent.version': 'v1',
  'gen_ai.agent.id': 'a1',
  'gen_ai.conversation.id': 'c1',
}
const CHAT = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.request.model': 'gpt-4o-mini',
  'gen_ai.usage.input_tokens': 100,
  'gen_ai.input.messages': '[{"role":"user","parts":[{"type":"text","content":"How far?"}]}]',
  tenant: 'blue',
}
/** Trace 1: a root that names all. Trace 2: named below the root, twice. Trace 3: nothing is named. */
const TRACES: readonly (readonly Row[])[] = [
  [
    [1, null, 0, { 'gen_ai.operation.name': 'invoke_agent', ...NAMED }],
    [2, 1, 10, CHAT],
    [3, 1, 20, { 'gen_ai.agent.name': 'expert' }],
    [4, 3, 30, CHAT],
  ],
  [
    [5, null, 10_000, {}],
    [6, 5, 10_010, { 'gen_ai.agent.name': 'late', 'gen_ai.agent.version': 'v9' }],
    [7, 5, 10_005, { 'gen_ai.agent.name': 'early' }],
    [8, 5, 10_020, { ...CHAT, 'gen_ai.conversation.id': 'c2' }],
  ],
  [[9, null, 20_000, CHAT]],
]

async function send(): Promise<void> {
  const spans = TRACES.flatMap((rows, trace) =>
    rows.map(([id, parent, ms, attributes]) =>
      buildSpan({
        trace_id: traceId(trace + 1),
        span_id: spanId(id),
        parent_span_id: parent === null ? null : spanId(parent),
        start_ns: at(ms),
        end_ns: at(ms + 5),
        attributes,
      }),
    ),
  )
  const { body } = await test.post('/v1/traces', toJsonRequest(spans.toReversed()), {
    headers: { project_id: PROJECT },
  })
  expect(body).toEqual({})
}

async function list(body: object): Promise<AgentSpanRow[]> {
  const answer = await ask('spans/query', {
    sort_by: [{ field: 'started_at', direction: 'asc' }],
    ...body,
  })
  expect([answer.status, answer.body.error]).toEqual([200, undefined])
  expect(answer.body.total_count).toBe(answer.body.spans.length)
  return answer.body.spans
}
const numbers = (rows: readonly AgentSpanRow[]) =>
  rows.map(({ span_id }) => Number.parseInt(span_id, 16))

describeEachStore('the agent and the conversation of a trace', (build) => {
  beforeEach(async () => {
    test = await build()
    await send()
  })

  // The rule of the service behind weave 0.54: all of an agent from one span, a conversation by itself.
  it('are those of the earliest span with them, for spans without their own', async () => {
    const shown = (await list({})).map((row) => [
      ...[Number.parseInt(row.span_id, 16), row.agent_name, row.agent_version],
      ...[row.agent_id, row.conversation_id],
    ])
    expect(shown).toEqual([
      [1, 'planner', 'v1', 'a1', 'c1'],
      [2, 'planner', 'v1', 'a1', 'c1'],
      [3, 'expert', null, null, 'c1'],
      [4, 'planner', 'v1', 'a1', 'c1'],
      [5, 'early', null, null, 'c2'],
      [7, 'early', null, null, 'c2'],
      [6, 'late', 'v9', null, 'c2'],
      [8, 'early', null, null, 'c2'],
      [9, null, null, null, null],
    ])
  })

  it.each([
    ['agent.name', 'planner', [1, 2, 4]],
    ['gen_ai.agent.version', 'v1', [1, 2, 4]],
    ['agent_id', 'a1', [1, 2, 4]],
    ['agent_name', 'early', [5, 7, 8]],
    ['conversation_id', 'c1', [1, 2, 3, 4]],
    ['gen_ai.conversation.id', 'c2', [5, 7, 6, 8]],
    ['conversation_id', 'none', []],
  ])('are found by %s = %s', async (name, value, expected) => {
    expect(numbers(await list({ query: equals(name, value) }))).toEqual(expected)
  })

  it('are there though the span that names them is out of the window or the page', async () => {
    const started_after = '2023-11-14T22:13:20.010Z'
    const before = { started_after, started_before: '2023-11-14T22:13:20.015Z' }
    expect(numbers(await list({ ...before, query: equals('agent_name', 'planner') }))).toEqual([2])
    expect((await list(before))[0]).toMatchObject({ agent_name: 'planner', conversation_id: 'c1' })
    const { body } = await ask('spans/query', {
      sort_by: [{ field: 'conversation_id', direction: 'desc' }],
      limit: 1,
    })
    expect(body.spans[0].conversation_id).toBe('c2')
  })

  it('make groups of spans, and measures of them', async () => {
    const { body } = await ask('spans/query', {
      group_by: [{ key: 'agent_name' }, { key: 'conversation_id' }],
      sort_by: [{ field: 'span_count', direction: 'desc' }],
      measures: [{ alias: 'n', aggregation: 'count', filter: equals('agent_version', 'v1') }],
    })
    const counts = body.groups.map(
      ({ group_keys, span_count, total_input_tokens, metrics }: AgentSpanGroup) => [
        ...[group_keys.agent_name, group_keys.conversation_id, span_count],
        ...[total_input_tokens, metrics.n],
      ],
    )
    expect(counts).toHaveLength(5)
    expect(counts).toEqual(
      expect.arrayContaining([
        ['planner', 'c1', 3, 200, 3],
        ['early', 'c2', 3, 100, 0],
        ['expert', 'c1', 1, 0, 0],
        ['late', 'c2', 1, 0, 0],
        [null, null, 1, 100, 0],
      ]),
    )
  })

  it('count in statistics', async () => {
    const { status, body } = await ask('spans/stats', {
      start: '2023-11-14T00:00:00Z',
      end: '2023-11-15T00:00:00Z',
      granularity: 86_400,
      group_by: [{ key: 'agent_name' }],
      metrics: [
        {
          alias: 'tokens',
          value: { key: 'input_tokens' },
          value_type: 'number',
          aggregations: ['sum'],
        },
      ],
      query: equals('tenant', 'blue'),
    })
    expect(status).toBe(200)
    const tokens = Object.fromEntries(
      body.rows.map((row: Record<string, unknown>) => [
        String(row.agent_name),
        row.sum_tokens ?? row.tokens,
      ]),
    )
    expect(tokens).toEqual({ planner: 200, early: 100, null: 100 })
  })

  it('narrow custom attributes and searches in messages', async () => {
    const { body } = await ask('spans/custom-attrs/schema', {
      query: equals('agent_name', 'early'),
    })
    expect(body.attributes).toMatchObject([{ key: 'tenant', span_count: 1 }])
    for (const [fields, expected] of [
      [{ agent_name: 'planner' }, [2, 4]],
      [{ conversation_id: 'c1' }, [2, 4]],
      [{ conversation_id: 'c2', agent_name: 'early' }, [8]],
      [{ conversation_id: 'none' }, []],
    ] as const) {
      const { results } = (await ask('search', { query: 'how far', ...fields })).body
      const found = results.flatMap(({ matched_messages }: { matched_messages: AgentSpanRow[] }) =>
        numbers(matched_messages),
      )
      expect([fields, found.sort()]).toEqual([fields, expected])
    }
    const { body: one } = await ask('search', { query: 'how far', conversation_id: 'c1' })
    expect(one.results).toMatchObject([{ conversation_id: 'c1', agent_name: 'planner' }])
  })

  it('leave lists of agents to the spans that name them', async () => {
    const { body } = await ask('query')
    const counts = body.agents.map(({ agent_name, span_count }: Record<string, unknown>) => [
      agent_name,
      span_count,
    ])
    expect(counts.sort()).toEqual([
      ['early', 1],
      ['expert', 1],
      ['late', 1],
      ['planner', 1],
    ])
  })

  it('are told apart by traces of more spans than are read at once', async () => {
    const many = Array.from({ length: 300 }, (_, index) =>
      buildSpan({
        trace_id: traceId(100 + (index % 3)),
        span_id: spanId(1000 + index),
        start_ns: at(30_000 + index),
        attributes: index >= 297 ? { 'gen_ai.agent.name': `agent ${index % 3}` } : {},
      }),
    )
    await test.post('/v1/traces', toJsonRequest(many), { headers: { project_id: PROJECT } })
    for (const number of [0, 1, 2]) {
      const found = await list({ query: equals('agent_name', `agent ${number}`), limit: 1000 })
      expect(found).toHaveLength(100)
      expect(new Set(found.map(({ trace_id }) => trace_id))).toEqual(
        new Set([traceId(100 + number)]),
      )
    }
  })

  describe('what the Weave SDK notes of evaluations on spans', () => {
    // The attributes that EvalLinkSpanProcessor of weave 0.54 (Python) sets.
    const ATTRIBUTES = {
      'weave.eval.run_id': 'run-1',
      'weave.eval.predict_and_score_call_id': 'trial-1',
      'weave.eval.kind': 'agent',
      'weave.eval.row_digest': 'digest',
      'weave.eval.example_id': 'example',
      'weave.eval.trial_index': 2,
      'weave.eval.evaluation_name': 'nightly',
      'weave.eval.project_id': PROJECT,
    }

    beforeEach(async () => {
      const span = buildSpan({ trace_id: traceId(50), span_id: spanId(50), attributes: ATTRIBUTES })
      await test.post('/v1/traces', toJsonRequest([span]), { headers: { project_id: PROJECT } })
    })

    it('is shown, and found by every name of its fields', async () => {
      for (const name of ['eval.run_id', 'eval_run_id', 'weave.eval.run_id']) {
        const [row, ...more] = await list({ query: equals(name, 'run-1'), include_details: true })
        expect(more).toEqual([])
        expect(row).toMatchObject({
          eval_run_id: 'run-1',
          eval_predict_and_score_call_id: 'trial-1',
          eval_kind: 'agent',
          eval_row_digest: 'digest',
          eval_example_id: 'example',
          eval_trial_index: 2,
          eval_evaluation_name: 'nightly',
          custom_attrs_string: { 'weave.eval.project_id': PROJECT },
        })
        expect(row?.custom_attrs_int).toEqual({})
      }
      const trial = { $expr: { $gte: [{ $getField: 'eval.trial_index' }, { $literal: 2 }] } }
      expect(numbers(await list({ query: trial }))).toEqual([50])
      expect((await list({}))[0]).toHaveProperty('eval_run_id')
    })

    it('makes groups', async () => {
      const { body } = await ask('spans/query', { group_by: [{ key: 'eval.kind' }] })
      const counts = body.groups.map(({ group_keys, span_count }: AgentSpanGroup) => [
        group_keys.eval_kind,
        span_count,
      ])
      expect(counts).toEqual([
        [null, 9],
        ['agent', 1],
      ])
    })
  })
})
