/** Spans of an agent, as OpenTelemetry brings them, and an app that holds them. */
import { expect } from 'vitest'
import type { Span } from '../../src/domain/otel/span.ts'
import { buildSpan, spanId, toJsonRequest } from '../otel/otel-fixtures.ts'
import type { TestApp } from '../support/build-test-app.ts'

export const PROJECT = 'acme/demo'
const START_NS = 1_700_000_000_000_000_000n
export const traceId = (number: number) => number.toString(16).padStart(32, '0')
export const at = (ms: number) => START_NS + BigInt(ms) * 1_000_000n
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

/** An app with two turns of a conversation, a span alone, and a call of that conversation which is no span. */
export async function buildAgentsApp(build: () => Promise<TestApp>): Promise<TestApp> {
  const test = await build()
  const spans = [...buildTurn(1, 'What is one?'), ...buildTurn(2, 'What is two?')]
  const lone = buildSpan({ trace_id: traceId(9), span_id: spanId(900), start_ns: at(0) })
  const headers = { project_id: PROJECT }
  for (const list of [spans.toReversed(), [lone]]) {
    expect((await test.post('/v1/traces', toJsonRequest(list), { headers })).body).toEqual({})
  }
  await test.post('/call/start', {
    start: {
      project_id: PROJECT,
      id: 'no-span',
      op_name: 'op',
      thread_id: 'c1',
      started_at: '2023-11-14T22:13:21Z',
      attributes: {},
      inputs: {},
    },
  })
  return test
}

/** POSTs to a route of agents, in the project of the spans. */
export const askAgents = (test: TestApp, path: string, body: object = {}) =>
  test.post(`/agents/${path}`, { project_id: PROJECT, ...body })

export const field = (name: string) => ({ $getField: name })
export const equals = (name: string, value: unknown) => ({
  $expr: { $eq: [field(name), { $literal: value }] },
})
