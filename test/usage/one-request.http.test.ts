import { describe, expect, it } from 'vitest'
import type { Span } from '../../src/domain/otel/span.ts'
import { buildSpan, spanId, toJsonRequest } from '../otel/otel-fixtures.ts'
import { buildTestApp, type TestApp } from '../support/build-test-app.ts'

const PROJECT = 'acme/demo'
const MESSAGE = 'msg_01XFDUDYJgAACzvnptvVoYEL'

async function send(test: TestApp, ...spans: readonly Span[]): Promise<void> {
  const headers = { project_id: PROJECT }
  const { status, text } = await test.post('/v1/traces', toJsonRequest(spans), { headers })
  if (status !== 200) throw new Error(text)
}

/** Input and output that statistics count. */
async function countTokens(test: TestApp, fields: object = {}) {
  const { body } = await test.post('/calls/stats', {
    project_id: PROJECT,
    start: '2023-11-14T00:00:00Z',
    end: '2023-11-15T00:00:00Z',
    granularity: 86_400,
    usage_metrics: [{ metric: 'input_tokens' }, { metric: 'output_tokens' }],
    ...fields,
  })
  const buckets = body.usage_buckets as { sum_input_tokens: number; sum_output_tokens: number }[]
  return [
    buckets.reduce((sum, one) => sum + one.sum_input_tokens, 0),
    buckets.reduce((sum, one) => sum + one.sum_output_tokens, 0),
  ]
}

async function countedIn(test: TestApp): Promise<Record<string, unknown>> {
  const { text } = await test.post('/calls/stream_query', { project_id: PROJECT })
  const calls = text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
  return Object.fromEntries(calls.map(({ id, summary }) => [id, summary.weave.usage_counted_in]))
}

const chat = (model: string, input: number, output: number, more: object = {}) => ({
  'gen_ai.operation.name': 'chat',
  'gen_ai.request.model': model,
  'gen_ai.usage.input_tokens': input,
  'gen_ai.usage.output_tokens': output,
  ...more,
})
const responded = (id: string) => ({ 'gen_ai.response.id': id })
const spanOf = (id: number, attributes: object, more: Partial<Span> = {}) =>
  buildSpan({ span_id: spanId(id), attributes: { ...attributes }, ...more })

/** The same message as two libraries for Anthropic write it, and as OpenInference does. */
const OWN = spanOf(2, chat('claude-sonnet-4-5-20250929', 3213, 451, responded(MESSAGE)), {
  parent_span_id: spanId(1),
})
const BESIDE = spanOf(3, chat('claude-sonnet-4-5', 3213, 451, responded(MESSAGE)), {
  parent_span_id: spanId(1),
})
const insideValue = (id: number, value: object) =>
  spanOf(
    id,
    {
      'openinference.span.kind': 'LLM',
      'llm.model_name': 'claude-sonnet-4-5-20250929',
      'llm.token_count.prompt': 3213,
      'llm.token_count.completion': 451,
      'output.value': JSON.stringify(value),
      'output.mime_type': 'application/json',
    },
    { trace_id: 'ab'.repeat(16) },
  )
const RESPONSE = { id: MESSAGE, type: 'message', role: 'assistant' }
const INSIDE_VALUE = insideValue(4, RESPONSE)
const INSIDE_EVENT = insideValue(5, { data: RESPONSE })

describe('requests that several emitters record', () => {
  it('siblings and spans of other traces with one response id count once, in any order', async () => {
    for (const spans of [
      [OWN, BESIDE, INSIDE_VALUE, INSIDE_EVENT],
      [INSIDE_EVENT, INSIDE_VALUE, BESIDE, OWN],
    ]) {
      const test = await buildTestApp()
      for (const span of spans) await send(test, span)
      expect(await countTokens(test)).toEqual([3213, 451])
      expect(await countedIn(test)).toEqual({
        [spanId(2)]: undefined,
        [spanId(3)]: spanId(2),
        [spanId(4)]: spanId(2),
        [spanId(5)]: spanId(2),
      })
    }
  })

  it('the next call of a request counts when the counting one is deleted', async () => {
    const test = await buildTestApp()
    await send(test, OWN, BESIDE)
    expect(await countedIn(test)).toEqual({ [spanId(2)]: undefined, [spanId(3)]: spanId(2) })
    await test.post('/calls/delete', { project_id: PROJECT, call_ids: [spanId(2)] })
    expect(await countTokens(test)).toEqual([3213, 451])
    expect(await countedIn(test)).toEqual({ [spanId(3)]: undefined })
  })

  it('a span counts at the call of weave that it names, in another trace, whichever comes first', async () => {
    const call = {
      project_id: PROJECT,
      id: 'create',
      trace_id: 'weave',
      op_name: 'anthropic.Messages.create',
      started_at: '2023-11-14T22:13:19Z',
      attributes: {},
      inputs: {},
    }
    const usage = { requests: 1, input_tokens: 110, output_tokens: 10, total_tokens: 120 }
    const end = {
      project_id: PROJECT,
      id: 'create',
      ended_at: '2023-11-14T22:13:22Z',
      output: null,
      summary: { usage: { 'claude-sonnet-4-5': usage } },
    }
    const marked = chat('claude-sonnet-4-5', 110, 10, {
      'weave.parent_call.id': 'create',
      'weave.parent_call.trace_id': 'weave',
      ...responded(MESSAGE),
    })
    for (const isSpanFirst of [true, false]) {
      const test = await buildTestApp()
      if (isSpanFirst) await send(test, spanOf(7, marked))
      await test.post('/call/start', { start: call })
      await test.post('/call/end', { end })
      if (!isSpanFirst) await send(test, spanOf(7, marked))
      expect(await countTokens(test)).toEqual([110, 10])
      expect(await countedIn(test)).toEqual({ create: undefined, [spanId(7)]: 'create' })
    }
  })

  it('a span with one link to a span with equal usage counts there', async () => {
    const test = await buildTestApp()
    const links = [{ trace_id: 'ab'.repeat(16), span_id: spanId(6), attributes: {} }]
    await send(test, spanOf(6, chat('gpt-4o', 9, 2)), spanOf(7, chat('gpt-4o', 9, 2), { links }))
    await send(test, spanOf(8, chat('gpt-4o', 7, 2), { links }))
    expect(await countTokens(test)).toEqual([16, 4])
  })

  it('ids that are short, constant, or come with other tokens or models hide no usage', async () => {
    const test = await buildTestApp()
    const ids = ['chatcmpl-123', '00000000-0000-0000-0000-000000000000', 'unknown']
    let span = 10
    for (const id of ids) {
      await send(test, spanOf(span++, chat('gpt-4o', 5, 1, responded(id))))
      await send(test, spanOf(span++, chat('gpt-4o', 5, 1, responded(id))))
    }
    await send(test, spanOf(span++, chat('gpt-4o', 5, 1, responded(MESSAGE))))
    await send(test, spanOf(span++, chat('gpt-4o', 6, 1, responded(MESSAGE))))
    await send(test, spanOf(span++, chat('gpt-4o-mini', 5, 1, responded(MESSAGE))))
    expect(await countTokens(test)).toEqual([46, 9])
  })

  it('an id that more than sixteen calls share identifies nothing', async () => {
    const test = await buildTestApp()
    const copy = (at: number) => spanOf(100 + at, chat('gpt-4o', 5, 1, responded(MESSAGE)))
    await send(test, ...Array.from({ length: 16 }, (_, at) => copy(at)))
    expect(await countTokens(test)).toEqual([5, 1])
    await send(test, copy(16), copy(17))
    expect(await countTokens(test)).toEqual([90, 18])
    const call_ids = [spanId(100), spanId(101)]
    await test.post('/calls/delete', { project_id: PROJECT, call_ids })
    expect(await countTokens(test)).toEqual([5, 1])
  })
})

describe('a span that sums those below it', () => {
  const below = (...attributes: object[]) =>
    attributes.map((one, at) => spanOf(2 + at, one, { parent_span_id: spanId(1) }))
  const embed = (input: number) => ({
    'gen_ai.operation.name': 'embeddings',
    'gen_ai.request.model': 'text-embedding-3-small',
    'gen_ai.usage.input_tokens': input,
  })
  const openInference = (kind: string, model: string, input: number) => ({
    'openinference.span.kind': kind,
    [kind === 'LLM' ? 'llm.model_name' : 'embedding.model_name']: model,
    'llm.token_count.prompt': input,
  })

  it.each([
    ['embeddings', embed(16), [embed(6), embed(5), embed(5)]],
    ['chats', chat('gpt-4o', 16, 4), [chat('gpt-4o', 9, 2), chat('gpt-4o', 7, 2)]],
    ['a chat by its provider', chat('openai/gpt-4o', 16, 4), [chat('gpt-4o', 16, 4)]],
    ['a chat by an alias', chat('smart', 16, 4), [chat('gpt-4o-2024-08-06', 16, 4)]],
    [
      'OpenInference LLMs',
      openInference('LLM', 'gpt-4o', 16),
      [openInference('LLM', 'gpt-4o', 9), openInference('LLM', 'gpt-4o', 7)],
    ],
    [
      'OpenInference embeddings',
      openInference('EMBEDDING', 'e', 16),
      [openInference('EMBEDDING', 'e', 9), openInference('EMBEDDING', 'e', 7)],
    ],
    ['other kinds', chat('gpt-4o', 16, 0), [embed(9), openInference('LLM', 'm', 7)]],
  ] as const)('does not count beside %s', async (_title, parent, children) => {
    const spans = [spanOf(1, parent), ...below(...children)]
    const test = await buildTestApp()
    for (const span of spans.toReversed()) await send(test, span)
    const [input] = await countTokens(test)
    expect(input).toBe(16)
    const other = await buildTestApp()
    await send(other, ...spans)
    expect(await countTokens(other)).toEqual(await countTokens(test))
  })

  it('counts once where two spans name each other as parents', async () => {
    const test = await buildTestApp()
    await send(test, spanOf(1, chat('gpt-4o', 9, 2), { parent_span_id: spanId(2) }))
    await send(test, spanOf(2, chat('gpt-4o', 9, 2), { parent_span_id: spanId(1) }))
    expect(await countTokens(test)).toEqual([9, 2])
  })
})
