/** Attributes as Langfuse's SDKs set them. */
import { describe, expect, it } from 'vitest'
import { PREDICT_AND_SCORE_OP } from '../../src/domain/calls/evaluations/evaluation-calls.ts'
import { readExperimentRun } from '../../src/domain/otel/experiments.ts'
import { toSpanCall } from '../../src/domain/otel/span-call.ts'
import { toSpanParts } from '../../src/otel/read-request.ts'
import { buildSpan } from './otel-fixtures.ts'

const AT = 'langfuse.observation'

function callOf(fields: Readonly<Record<string, unknown>>) {
  const attributes = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      `${AT}.${name}`,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  )
  return toSpanCall(buildSpan({ attributes }), 'acme/demo')
}

const ASKED = { role: 'user', content: 'What is 3 plus 4?' }
const CALL = { id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a":3}' } }

describe('an observation of Langfuse', () => {
  it('is a model call with messages, settings, an answer and usage if it is a generation', () => {
    const { start, end } = callOf({
      type: 'generation',
      input: [ASKED],
      output: { role: 'assistant', content: '7' },
      'model.name': 'gpt-4o-mini',
      'model.parameters': { temperature: 0.5 },
      usage_details: {
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 15,
        prompt_tokens_details: { cached_tokens: 3 },
        completion_tokens_details: { reasoning_tokens: 2 },
      },
      'metadata.tier': '"gold"',
    })
    expect(start.inputs).toEqual({ model: 'gpt-4o-mini', temperature: 0.5, messages: [ASKED] })
    const message = { role: 'assistant', content: '7' }
    expect(end.output).toEqual({ choices: [{ index: 0, message, finish_reason: null }] })
    expect(end.summary).toEqual({
      usage: {
        'gpt-4o-mini': {
          requests: 1,
          prompt_tokens: 10,
          completion_tokens: 5,
          total_tokens: 15,
          prompt_tokens_details: { cached_tokens: 3 },
          completion_tokens_details: { reasoning_tokens: 2 },
        },
      },
    })
    expect(start.attributes).toEqual({
      kind: 'llm',
      langfuse: { observation: { metadata: { tier: '"gold"' } } },
    })
  })

  it('keeps the tools that a generation was offered and those that it called', () => {
    const tools = [{ type: 'function', function: { name: 'add' } }]
    const { start, end } = callOf({
      type: 'generation',
      input: { tools, messages: [ASKED] },
      output: { role: 'assistant', content: null, tool_calls: [CALL] },
    })
    expect(start.inputs).toEqual({ messages: [ASKED], tools })
    expect(end.output).toMatchObject({ choices: [{ message: { tool_calls: [CALL] } }] })
  })

  it('of a generation may be texts', () => {
    const { start, end } = callOf({ type: 'generation', input: 'Say hi.', output: 'hi' })
    expect(start.inputs).toEqual({ messages: [{ role: 'user', content: 'Say hi.' }] })
    expect(end.output).toMatchObject({ choices: [{ message: { content: 'hi' } }] })
  })

  it.each([
    ['span', { args: [1], kwargs: {} }, { sum: 3 }],
    ['tool', { args: [1], kwargs: {} }, [ASKED]],
    ['generation', { prompt: 'no messages' }, { answer: 7 }],
  ])('has values otherwise: %s', (type, input, output) => {
    const { start, end } = callOf({ type, input, output })
    expect(start.inputs).toEqual(input)
    expect(end.output).toEqual(output)
  })

  it.each([
    ['beside each other', { input: 10, output: 5, cache_read_input_tokens: 3 }, [13, 5, 18]],
    [
      'of which the total is the sum',
      { input: 7, input_cache_read: 3, output: 3, output_reasoning: 2, total: 15 },
      [10, 5, 15],
    ],
    [
      'within input and output, as the total says',
      { input: 10, output: 5, total: 15, cache_read_input_tokens: 3 },
      [10, 5, 15],
    ],
    ['in the names of responses', { input_tokens: 10, output_tokens: 5 }, [10, 5, 15]],
  ])('has counts of tokens %s', (_title, usage_details, [prompt, completion, total]) => {
    const { end } = callOf({ type: 'generation', 'model.name': 'm', usage_details })
    const counts = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total }
    expect(end.summary).toMatchObject({ usage: { m: counts } })
  })

  it.each<Record<string, unknown>>([
    { 'langfuse.observation': 'a text' },
    { langfuse: null, 'langfuse.observation': { input: 1 } },
    { langfuse: 'a text', 'langfuse.observation.type': 'generation' },
  ])('stays as it is where it is none: %j', (attributes) => {
    const { start } = toSpanCall(buildSpan({ attributes }), 'acme/demo')
    expect(start.inputs).toEqual({})
    expect(JSON.stringify(start.attributes)).toContain('langfuse')
  })

  it.each([
    [
      'the message of its status',
      { status_message: 'Error: 429 slow down' },
      'Error: 429 slow down',
    ],
    ['the mere fact', {}, 'error'],
  ])(
    'failed if its level is ERROR, though the span has no status, with %s',
    (_title, told, text) => {
      const { end } = callOf({ type: 'generation', input: [ASKED], level: 'ERROR', ...told })
      expect(end.exception).toBe(text)
    },
  )

  it('did not fail at a lower level', () => {
    const { end } = callOf({ type: 'tool', level: 'WARNING', status_message: 'slow' })
    expect(end.exception).toBeNull()
  })
})

describe('the span of an item of an experiment', () => {
  it('is a trial where its run is recorded with it, and else the call that it is', () => {
    const attributes = { 'langfuse.experiment.id': 'r', 'langfuse.experiment.item.id': 'i' }
    const span = buildSpan({ name: 'experiment-item-run', attributes })
    const defaults = { refScheme: 'weave', svc_user_id: 'u', svc_username: 'u' }
    const run = readExperimentRun(span, 'acme/demo')
    const [trial, imported] = [run, null].map(
      (given) => toSpanParts(span, 'acme/demo', defaults, given).start,
    )
    expect(trial).toMatchObject({ op_name: PREDICT_AND_SCORE_OP, parent_id: 'r' })
    expect(imported).toMatchObject({ op_name: 'experiment-item-run', parent_id: null })
  })
})
