import { describe, expect, it } from 'vitest'
import { toSpanCall } from '../../src/domain/otel/span-call.ts'
import { buildSpan } from './otel-fixtures.ts'

type Json = Record<string, unknown>

const callOf = (attributes: Json) => toSpanCall(buildSpan({ attributes }), 'acme/demo')

const inputsOf = (attributes: Json) => callOf(attributes).start.inputs

/** Texts that read like JSON, or like something that this server looks for. */
const TEXTS = [
  '{"answer": 42}',
  '["a","b"]',
  '[]',
  '{"text":"hi","score":1}',
  '[{"name":"Bob"}]',
  '{"role":"system","content":"x"}',
  '"quoted"',
  '{"prompt":"x"}',
]

describe('a text that reads like JSON, where a convention has texts', () => {
  it.each(TEXTS)('is the answer of the Vercel AI SDK as it stands: %s', (text) => {
    const message = { role: 'assistant', content: text }
    expect(callOf({ 'ai.response.text': text }).end.output).toEqual({
      choices: [{ index: 0, message, finish_reason: null }],
    })
  })

  it.each(TEXTS)('is a prompt as it stands: %s', (text) => {
    const messages = [{ role: 'user', content: text }]
    for (const attributes of [
      { 'llm.prompts': [text] },
      { 'llm.prompts.0.prompt.text': text },
      { 'ai.prompt': JSON.stringify({ prompt: text }) },
      { request_data: JSON.stringify({ input: text }) },
      { request_data: JSON.stringify({ input: [text] }) },
    ]) {
      expect(inputsOf(attributes).messages).toEqual(messages)
    }
  })

  it.each(TEXTS)('is a query or what is embedded as it stands: %s', (text) => {
    for (const key of ['gen_ai.retrieval.query.text', 'embedding.text', 'reranker.query']) {
      expect(inputsOf({ [key]: text })).toEqual({ value: text })
    }
    const chunks = { response_data: JSON.stringify({ combined_chunk_content: text }) }
    expect(callOf(chunks).end.output).toBe(text)
  })

  it.each(TEXTS)('is a name as it stands: %s', (text) => {
    const { start } = callOf({
      'traceloop.entity.name': text,
      'wandb.display_name': text,
      'gen_ai.provider.name': text,
      'gen_ai.request.model': text,
    })
    expect([start.op_name, start.display_name]).toEqual([text, text])
    expect([start.attributes.provider, start.inputs.model]).toEqual([text, text])
  })

  it('is parsed where a convention has JSON', () => {
    const text = '{"a":[1]}'
    for (const key of ['gen_ai.tool.call.arguments', 'traceloop.entity.input', 'ai.value']) {
      expect(inputsOf({ [key]: text })).toEqual({ a: [1] })
    }
    for (const key of [
      'gen_ai.tool.call.result',
      'traceloop.entity.output',
      'ai.response.object',
    ]) {
      expect(callOf({ [key]: text }).end.output).toEqual({ a: [1] })
    }
  })

  it('is parsed in lists of the Vercel AI SDK, whose items are JSON, and in no others', () => {
    const items = ['"[a]"', '{"index":1}', '[0.5,-1]']
    const parsed = ['[a]', { index: 1 }, [0.5, -1]]
    for (const key of ['ai.values', 'ai.documents']) {
      expect(inputsOf({ [key]: items })).toEqual({ value: parsed })
    }
    for (const key of ['ai.embeddings', 'ai.ranking']) {
      expect(callOf({ [key]: items }).end.output).toEqual(parsed)
    }
    expect(callOf({ 'gen_ai.tool.call.result': items }).end.output).toEqual(items)
  })

  it('is a message where a list of the conventions has one in each text', () => {
    const text = '{"role":"system","parts":[{"type":"text","content":"Be brief."}]}'
    expect(inputsOf({ 'gen_ai.input.messages': [text, '["hi"]'] }).messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: '["hi"]' },
    ])
  })
})

describe('a value of OpenInference', () => {
  const valuesOf = (text: string, type: Json) => {
    const { start, end } = callOf({
      'input.value': text,
      'output.value': text,
      ...Object.fromEntries(Object.entries(type).map(([key, told]) => [`${key}.mime_type`, told])),
    })
    return [start.inputs, end.output]
  }

  it.each(TEXTS)('that is not declared JSON stays a text: %s', (text) => {
    expect(valuesOf(text, {})).toEqual([{ value: text }, text])
    for (const type of ['text/plain', 'text/plain; charset=utf-8']) {
      expect(valuesOf(text, { input: type, output: type })).toEqual([{ value: text }, text])
    }
  })

  it.each(['application/json', 'application/json; charset=utf-8', 'application/ld+json'])(
    'that is declared %s is parsed',
    (type) => {
      const types = { input: type, output: type }
      expect(valuesOf('{"a":1}', types)).toEqual([{ a: 1 }, { a: 1 }])
      expect(valuesOf('hi', types)).toEqual([{ value: 'hi' }, 'hi'])
      expect(valuesOf('{"a":1}', { output: type })).toEqual([{ value: '{"a":1}' }, { a: 1 }])
    },
  )
})

describe('a field with attributes of its own', () => {
  it('adds the thoughts of the Vercel AI SDK to its answer, not to an object', () => {
    const thoughts = { 'ai.response.reasoning': '[hm]' }
    const message = { role: 'assistant', content: 'so', reasoning_content: '[hm]' }
    const { end } = callOf({ ...thoughts, 'ai.response.text': 'so' })
    expect(end.output).toMatchObject({ choices: [{ message }] })
    const object = callOf({ ...thoughts, 'ai.response.object': '{"a":1}' })
    expect(object.end.output).toEqual({ a: 1 })
    expect(object.start.attributes.ai).toEqual({ response: { reasoning: '[hm]' } })
  })

  it('parses the schemas of tools whose fields are attributes', () => {
    const at = 'llm.request.functions'
    const { inputs } = callOf({
      [`${at}.0.name`]: 'add',
      [`${at}.0.description`]: '{"adds"}',
      [`${at}.0.parameters`]: '{"type":"object"}',
      [`${at}.1.name`]: 'sub',
      [`${at}.1.input_schema`]: '{"type":"object"}',
    }).start
    expect(inputs.tools).toEqual([
      { name: 'add', description: '{"adds"}', parameters: { type: 'object' } },
      { name: 'sub', input_schema: { type: 'object' } },
    ])
  })

  it("shows the vectors of OpenInference's embeddings once there are any", () => {
    const texts = {
      'embedding.embeddings.0.embedding.text': 'a',
      'embedding.embeddings.1.embedding.text': 'b',
    }
    expect(callOf(texts).end.output).toBeNull()
    const vectors = {
      'embedding.embeddings.0.embedding.vector': [0.5, -1],
      'embedding.embeddings.1.embedding.vector': [1, 2],
    }
    const told = [
      [0.5, -1],
      [1, 2],
    ]
    expect(callOf({ ...texts, ...vectors }).end.output).toEqual(told)
  })
})
