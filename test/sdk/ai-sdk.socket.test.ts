import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { APICallError, generateText, jsonSchema, Output, stepCountIs, streamText, tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { createTinyBackend } from '../../src/inference/tiny/backend.ts'
import {
  type Behaviour,
  HELLO_EVENTS,
  json,
  silence,
  startFakeUpstream,
  stream,
} from '../support/fake-upstream.ts'
import { startModelServer, upstreamModel } from '../support/model-server.ts'
import { scriptedModels } from '../support/scripted-backend.ts'
import { answerOf, HELLO_ANSWER, hello, inTurn, streamOf } from '../support/upstream-answers.ts'

const CALL = { id: 't-1', type: 'function', function: { name: 'add', arguments: '{"a":1,"b":2}' } }

function providerOf(baseURL: string, apiKey: string) {
  return createOpenAICompatible({
    name: 'weft',
    baseURL,
    apiKey,
    includeUsage: true,
    supportsStructuredOutputs: true,
  })
}

async function start(behaviour: Behaviour) {
  const upstream = await startFakeUpstream(behaviour)
  const server = await startModelServer(upstreamModel(upstream.baseUrl))
  const model = providerOf(server.baseUrl, server.key)('org/relayed')
  const sent = (at = 0) => JSON.parse(upstream.requests[at]!.body)
  return { ...server, upstream, model, sent }
}

/** A tool whose uses are noted. */
function addTool() {
  const uses: unknown[] = []
  const add = tool({
    description: 'Adds two numbers.',
    inputSchema: jsonSchema<{ a: number; b: number }>({
      type: 'object',
      properties: { a: { type: 'number' }, b: { type: 'number' } },
      required: ['a', 'b'],
    }),
    execute: async (input) => {
      uses.push(input)
      return input.a + input.b
    },
  })
  return { tools: { add }, uses }
}

const PERSON = jsonSchema<{ name: string }>({
  type: 'object',
  properties: { name: { type: 'string' } },
  required: ['name'],
  additionalProperties: false,
})

describe('the AI SDK over a relayed model', () => {
  it('generates text, with its usage', async () => {
    const { model, sent } = await start(hello)
    const { text, usage, finishReason } = await generateText({ model, prompt: 'hi', seed: 7 })
    expect([text, finishReason, usage.inputTokens, usage.outputTokens]).toEqual([
      'Hello',
      'stop',
      7,
      3,
    ])
    expect(sent()).toMatchObject({ messages: [{ role: 'user', content: 'hi' }], seed: 7 })
  })

  it('streams text, with its usage', async () => {
    const { model } = await start(hello)
    const result = streamText({ model, prompt: 'hi' })
    const pieces: string[] = []
    for await (const piece of result.textStream) pieces.push(piece)
    expect(pieces.join('')).toBe('Hello')
    expect((await result.usage).totalTokens).toBe(10)
  })

  it('reads the reasoning before the text', async () => {
    const { model } = await start(streamOf([{ reasoning_content: 'why' }, { content: 'so' }]))
    const result = streamText({ model, prompt: 'hi' })
    expect([await result.reasoningText, await result.text]).toEqual(['why', 'so'])
  })

  it.each([false, true])(
    'calls tools and continues with their results, stream %s',
    async (isStream) => {
      const { index, ...rest } = { index: 0, ...CALL }
      const [first, second] = isStream
        ? [
            streamOf(
              [
                { role: 'assistant', content: '' },
                { tool_calls: [{ index, ...rest, function: { name: 'add', arguments: '' } }] },
                { tool_calls: [{ index, function: { arguments: '{"a":1,' } }] },
                { tool_calls: [{ index, function: { arguments: '"b":2}' } }] },
              ],
              'tool_calls',
            ),
            streamOf([{ content: '3' }]),
          ]
        : [
            json(200, answerOf({ content: null, tool_calls: [CALL] }, 'tool_calls')),
            json(200, answerOf({ content: '3' })),
          ]
      const { model, sent } = await start(inTurn(first, second))
      const { tools, uses } = addTool()
      const options = { model, prompt: '1+2?', tools, stopWhen: stepCountIs(3) }
      const text = isStream ? await streamText(options).text : (await generateText(options)).text
      expect([text, uses]).toEqual(['3', [{ a: 1, b: 2 }]])
      expect(sent(0).tools[0]).toMatchObject({ type: 'function', function: { name: 'add' } })
      expect(sent(1).messages.slice(1)).toMatchObject([
        { role: 'assistant', tool_calls: [{ id: 't-1' }] },
        { role: 'tool', tool_call_id: 't-1', content: '3' },
      ])
    },
  )

  it('asks for an answer of a schema', async () => {
    const { model, sent } = await start(json(200, answerOf({ content: '{"name":"Ada"}' })))
    const output = Output.object({ schema: PERSON })
    const answer = await generateText({ model, prompt: 'Who?', output })
    expect(answer.output).toEqual({ name: 'Ada' })
    expect(sent().response_format).toMatchObject({
      type: 'json_schema',
      json_schema: { schema: { required: ['name'] } },
    })
  })

  it('tries again after a 500, and gets its answer', async () => {
    const { model, upstream } = await start(inTurn(json(500, {}), json(200, HELLO_ANSWER)))
    expect((await generateText({ model, prompt: 'hi', maxRetries: 1 })).text).toBe('Hello')
    expect(upstream.requests).toHaveLength(2)
  })

  it('gets the message and the code of an error', async () => {
    const { model } = await start(json(400, { error: { message: 'top_k is odd' } }))
    const failure = await generateText({ model, prompt: 'hi' }).catch((error: unknown) => error)
    expect(APICallError.isInstance(failure)).toBe(true)
    expect(failure).toMatchObject({ statusCode: 400, message: 'top_k is odd', isRetryable: false })
    expect(JSON.parse(String((failure as APICallError).responseBody)).error.code).toBe(
      'invalid_value',
    )
  })

  it('learns that a stream broke off', async () => {
    const { model } = await start(stream(HELLO_EVENTS.slice(0, 2), 'cut'))
    const errors: unknown[] = []
    const result = streamText({
      model,
      prompt: 'hi',
      onError: ({ error }) => void errors.push(error),
    })
    const parts: string[] = []
    for await (const part of result.fullStream) parts.push(part.type)
    expect(parts).toContain('error')
    expect(String(errors)).toContain('broke off')
  })

  it.each([false, true])(
    'that is aborted cuts the upstream connection, stream %s',
    async (isStream) => {
      const behaviour = isStream ? stream(HELLO_EVENTS.slice(0, 2), 'hang') : silence
      const { model, upstream } = await start(behaviour)
      const leave = new AbortController()
      const options = { model, prompt: 'hi', abortSignal: leave.signal, maxRetries: 0 }
      const answer = isStream
        ? (async () => {
            const result = streamText({ ...options, onError: () => {} })
            for await (const piece of result.textStream) if (piece === 'Hello') leave.abort()
          })()
        : generateText(options)
      const ended = answer.catch(() => {})
      const { closed } = await upstream.arrival(0)
      if (!isStream) leave.abort()
      expect(await closed).toEqual({ isAnswered: false })
      await ended
    },
  )
})

describe('the AI SDK over the embedded model', () => {
  async function startTiny() {
    // Patient with grammars: a busy machine takes its time.
    const backend = createTinyBackend({ queueMax: 4, hazardCpuMsMax: 60_000 })
    const { baseUrl, key } = await startModelServer(
      scriptedModels({ id: 'tiny', backend, backendModel: 'tiny' }),
    )
    return providerOf(baseUrl, key)('tiny')
  }

  it('generates and streams the same text', async () => {
    const model = await startTiny()
    const options = { model, prompt: 'What is 3 plus 4?', temperature: 0, maxOutputTokens: 12 }
    const whole = await generateText(options)
    const streamed = streamText(options)
    expect(await streamed.text).toBe(whole.text)
    expect((await streamed.usage).totalTokens).toBe(whole.usage.totalTokens)
    expect(whole.text).not.toBe('')
  })

  it('answers by a schema', async () => {
    const schema = jsonSchema<{ ok: boolean }>({
      type: 'object',
      properties: { ok: { type: 'boolean' } },
      required: ['ok'],
      additionalProperties: false,
    })
    const output = Output.object({ schema })
    const answer = await generateText({ model: await startTiny(), prompt: 'Ready?', output })
    expect(answer.output).toEqual({ ok: expect.any(Boolean) })
  })

  it('gets the name of the wrong field', async () => {
    const failure = generateText({ model: await startTiny(), prompt: 'hi', temperature: 9 })
    await expect(failure).rejects.toMatchObject({
      statusCode: 400,
      message: expect.stringContaining('temperature'),
    })
  })
})
