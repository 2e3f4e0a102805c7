import OpenAI from 'openai'
import { zodTextFormat } from 'openai/helpers/zod'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { TestResponse } from '../../support/build-test-app.ts'
import {
  type Behaviour,
  DONE,
  event,
  json,
  startFakeUpstream,
  stream,
} from '../../support/fake-upstream.ts'
import { startModelServer, upstreamModel } from '../../support/model-server.ts'
import { answerOf, HELLO_ANSWER, hello, inTurn, streamOf } from '../../support/upstream-answers.ts'

type Json = TestResponse['body']

const TOOL = {
  type: 'function' as const,
  name: 'weather',
  parameters: { type: 'object', properties: { place: { type: 'string' } } },
  strict: false,
}
const CALL = {
  id: 'call_1',
  type: 'function',
  function: { name: 'weather', arguments: '{"place":"Oslo"}' },
}

async function startClient(behaviour: Behaviour = hello) {
  const upstream = await startFakeUpstream(behaviour)
  const server = await startModelServer(upstreamModel(upstream.baseUrl))
  const client = new OpenAI({ baseURL: server.baseUrl, apiKey: server.key, maxRetries: 0 })
  const asked = () => upstream.requests.map(({ body }) => JSON.parse(body))
  return { ...server, client, upstream, asked }
}

describe('responses of the openai package, unmodified', () => {
  it('are created, retrieved with the same content, listed by their input and deleted', async () => {
    const { client } = await startClient()
    const made = await client.responses.create({
      model: 'short',
      input: 'hi',
      metadata: { a: 'b' },
    })
    expect(made).toMatchObject({ status: 'completed', output_text: 'Hello', model: 'short' })
    expect(made.usage).toMatchObject({ input_tokens: 7, output_tokens: 3, total_tokens: 10 })
    const read = await client.responses.retrieve(made.id)
    expect(read).toEqual(made)
    const items = []
    for await (const item of client.responses.inputItems.list(made.id)) items.push(item)
    expect(items).toEqual([
      expect.objectContaining({
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text: 'hi' }],
      }),
    ])
    await client.responses.delete(made.id)
    await expect(client.responses.retrieve(made.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError)
  })

  it('continue a previous one, whose input and output are sent to the model again', async () => {
    const { client, asked } = await startClient()
    const first = await client.responses.create({ input: 'one', instructions: 'Be brief.' })
    const second = await client.responses.create({ input: 'two', previous_response_id: first.id })
    await client.responses.create({ input: 'three', previous_response_id: second.id })
    expect(asked()[2].messages).toEqual([
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'Hello' },
      { role: 'user', content: 'two' },
      { role: 'assistant', content: 'Hello' },
      { role: 'user', content: 'three' },
    ])
    expect(asked()[0].messages[0]).toEqual({ role: 'system', content: 'Be brief.' })
  })

  it('are streamed as typed events that the helper adds up to the final response', async () => {
    const { client } = await startClient(
      streamOf([{ reasoning_content: 'Hm' }, { content: 'Hel' }, { content: 'lo' }]),
    )
    const types: string[] = []
    const stream = client.responses.stream({ model: 'short', input: 'hi' })
    stream.on('event', ({ type }) => types.push(type))
    const final = await stream.finalResponse()
    expect(final.output_text).toBe('Hello')
    expect(final.output.map(({ type }) => type)).toEqual(['reasoning', 'message'])
    expect(types).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.reasoning_text.delta',
      'response.reasoning_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ])
    expect((await client.responses.retrieve(final.id)).output).toMatchObject([
      {},
      { id: final.output[1]?.id },
    ])
  })

  it('call a function, and take its output from the next request', async () => {
    const calling = json(200, answerOf({ content: null, tool_calls: [CALL] }, 'tool_calls'))
    const { client, asked } = await startClient(inTurn(calling, json(200, HELLO_ANSWER)))
    const tools = [TOOL]
    const first = await client.responses.create({
      input: 'weather?',
      tools,
      tool_choice: 'required',
    })
    const [call] = first.output
    expect(call).toMatchObject({
      type: 'function_call',
      call_id: 'call_1',
      name: 'weather',
      status: 'completed',
    })
    const output = { type: 'function_call_output' as const, call_id: 'call_1', output: 'rain' }
    await client.responses.create({ input: [output], tools, previous_response_id: first.id })
    expect(asked()[0]).toMatchObject({
      tool_choice: 'required',
      tools: [{ type: 'function', function: { name: 'weather', strict: false } }],
    })
    expect(asked()[1].messages).toEqual([
      { role: 'user', content: 'weather?' },
      { role: 'assistant', content: null, tool_calls: [CALL] },
      { role: 'tool', tool_call_id: 'call_1', content: 'rain' },
    ])
  })

  it('add up calls whose pieces are mixed', async () => {
    const first = (index: number, name: string) => ({
      tool_calls: [{ index, id: `call_${name}`, function: { name, arguments: '' } }],
    })
    const rest = (index: number, text: string) => ({
      tool_calls: [{ index, function: { arguments: text } }],
    })
    const deltas = [first(0, 'f'), first(1, 'g'), rest(0, '{"a"'), rest(1, '{"b"'), rest(0, ':1}')]
    const { client } = await startClient(streamOf([...deltas, rest(1, ':2}')], 'tool_calls'))
    const final = await client.responses.stream({ model: 'short', input: 'hi' }).finalResponse()
    expect(final.output).toMatchObject([
      { call_id: 'call_f', name: 'f', arguments: '{"a":1}', status: 'completed' },
      { call_id: 'call_g', name: 'g', arguments: '{"b":2}', status: 'completed' },
    ])
  })

  it.each(['whole', 'streamed'])('have arguments that are objects as text, %s', async (way) => {
    const call = `{"id":"c1","function":{"name":"f","arguments":{"n":12345678901234567890}}}`
    const message = `{"role":"assistant","tool_calls":[${call}]}`
    const choice = (field: string) =>
      `{"choices":[{"index":0,"${field}":${message},"finish_reason":"tool_calls"}]}`
    const behaviour =
      way === 'whole' ? json(200, choice('message')) : stream([event(choice('delta')), DONE])
    const { client } = await startClient(behaviour)
    const made =
      way === 'whole'
        ? await client.responses.create({ input: 'hi' })
        : await client.responses.stream({ model: 'short', input: 'hi' }).finalResponse()
    expect(made.output).toMatchObject([{ name: 'f', arguments: '{"n":12345678901234567890}' }])
  })

  it('have the texts of content in parts, and refuse parts that they cannot hold', async () => {
    const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }
    const parts = { content: [thinking, { type: 'text', text: 'seven' }] }
    const unknown = answerOf({ content: [{ type: 'image_url', image_url: {} }] })
    const { client } = await startClient(inTurn(json(200, answerOf(parts)), json(200, unknown)))
    const made = await client.responses.create({ input: 'hi' })
    expect(made.output_text).toBe('seven')
    expect(made.output).toMatchObject([{ content: [{ text: 'hm' }] }, { type: 'message' }])
    await expect(client.responses.create({ input: 'hi' })).rejects.toMatchObject({
      status: 502,
      code: 'upstream_invalid_response',
    })
  })

  it.each([false, true])(
    'refuse an answer that nests too deeply, streamed: %s',
    async (isStream) => {
      const deep = '['.repeat(100_000) + ']'.repeat(100_000)
      const choice = (field: string) =>
        `{"choices":[{"index":0,"${field}":{"content":"a"},"logprobs":{"content":[${deep}]}}]}`
      const { client } = await startClient(
        isStream ? stream([event(choice('delta')), DONE]) : json(200, choice('message')),
      )
      const making = client.responses.create({ input: 'hi', stream: isStream })
      await expect(making).rejects.toMatchObject({ status: 502, code: 'upstream_invalid_response' })
    },
  )

  it('are parsed by a schema', async () => {
    const { client, asked } = await startClient(json(200, answerOf({ content: '{"city":"Oslo"}' })))
    const format = zodTextFormat(z.object({ city: z.string() }), 'place')
    const parsed = await client.responses.parse({ input: 'where?', text: { format } })
    expect(parsed.output_parsed).toEqual({ city: 'Oslo' })
    expect(asked()[0].response_format).toMatchObject({
      type: 'json_schema',
      json_schema: { name: 'place', strict: true },
    })
  })

  it('are incomplete when the model ran out of tokens', async () => {
    const { client } = await startClient(json(200, answerOf({ content: 'He' }, 'length')))
    const made = await client.responses.create({ input: 'hi', max_output_tokens: 1 })
    expect(made).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ status: 'incomplete' }],
    })
  })

  it('end in response.failed when the model breaks off, and are kept as failed', async () => {
    const { client } = await startClient((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"id":"x","choices":[{"index":0,"delta":{"content":"He"}}]}\n\n')
      setImmediate(() => response.end())
    })
    const stream = await client.responses.create({ input: 'hi', stream: true })
    let last: Json = {}
    for await (const event of stream) last = event
    expect(last).toMatchObject({
      type: 'response.failed',
      response: {
        status: 'failed',
        error: { code: 'server_error' },
        output: [{ status: 'incomplete' }],
      },
    })
    expect(await client.responses.retrieve(last.response.id)).toMatchObject({ status: 'failed' })
  })

  it('are cancelled from another connection while they are made', async () => {
    const { client } = await startClient((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"id":"x","choices":[{"index":0,"delta":{"content":"He"}}]}\n\n')
    })
    const stream = await client.responses.create({ input: 'hi', stream: true })
    let last: Json = {}
    for await (const event of stream) {
      last = event
      if (event.type === 'response.created') {
        expect(await client.responses.cancel(event.response.id)).toMatchObject({
          status: 'cancelled',
        })
      }
    }
    expect(last.response).toMatchObject({ status: 'cancelled' })
    expect(await client.responses.cancel(last.response.id)).toMatchObject({
      status: 'cancelled',
      output: [{ content: [{ text: 'He' }] }],
    })
  })

  it('have no counts of input tokens and no compaction, which are refused by name', async () => {
    const { client, get } = await startClient()
    const retrying = client.withOptions({ maxRetries: 2 })
    await expect(retrying.responses.inputTokens.count({ input: 'hi' })).rejects.toMatchObject({
      status: 501,
      code: 'not_implemented',
      message: expect.stringContaining('counts of the input tokens of responses'),
    })
    await expect(retrying.responses.compact({ model: 'short' })).rejects.toMatchObject({
      status: 501,
      code: 'not_implemented',
      message: expect.stringContaining('compaction of responses'),
    })
    expect((await get('/v1/responses/compact')).body.error.code).toBe('response_not_found')
  })
})
