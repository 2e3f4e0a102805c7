import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import {
  type Behaviour,
  chunk,
  DONE,
  event,
  HELLO_EVENTS,
  json,
  silence,
  startFakeUpstream,
  stream,
} from '../support/fake-upstream.ts'
import { startModelServer, upstreamModel } from '../support/model-server.ts'
import {
  HELLO_ANSWER as ANSWER,
  answerOf,
  hello,
  inTurn,
  USAGE,
} from '../support/upstream-answers.ts'

const REQUEST = { model: 'org/relayed', messages: [{ role: 'user' as const, content: 'hi' }] }

async function start(behaviour: Behaviour) {
  const upstream = await startFakeUpstream(behaviour)
  const server = await startModelServer(upstreamModel(upstream.baseUrl))
  const client = new OpenAI({ baseURL: server.baseUrl, apiKey: server.key, maxRetries: 2 })
  return { ...server, upstream, client }
}

describe('the openai package over a relayed model', () => {
  it('gets a completion with its request id and usage', async () => {
    const { client, upstream } = await start(hello)
    const answer = await client.chat.completions.create({ ...REQUEST, seed: 7 })
    expect(answer).toMatchObject(ANSWER)
    expect(upstream.requests[0]?.headers['x-request-id']).toBe(answer._request_id)
    expect(JSON.parse(upstream.requests[0]!.body)).toEqual({ ...REQUEST, seed: 7 })
  })

  it('sends custom tools and allowed tools as they are, and gets the call of one', async () => {
    const call = { id: 't-1', type: 'custom', custom: { name: 'code', input: 'print(1)' } }
    const answer = answerOf({ content: null, tool_calls: [call] }, 'tool_calls')
    const { client, upstream } = await start(json(200, answer))
    const custom = { type: 'custom' as const, custom: { name: 'code' } }
    const allowed = { mode: 'required' as const, tools: [{ ...custom }] }
    const request = {
      ...REQUEST,
      tools: [custom],
      tool_choice: { type: 'allowed_tools' as const, allowed_tools: allowed },
    }
    const { choices } = await client.chat.completions.create(request)
    expect(choices[0]?.message.tool_calls).toEqual([call])
    expect(JSON.parse(upstream.requests[0]!.body)).toEqual(request)
  })

  it('iterates a stream, with the usage it asked for', async () => {
    const { client } = await start(hello)
    const events = await client.chat.completions.create({
      ...REQUEST,
      stream: true,
      stream_options: { include_usage: true },
    })
    let text = ''
    let usage: unknown
    for await (const event of events) {
      text += event.choices[0]?.delta.content ?? ''
      usage = event.usage ?? usage
    }
    expect([text, usage]).toEqual(['Hello', USAGE])
  })

  it('adds a stream up with its own helper', async () => {
    const { client } = await start(hello)
    const answer = await client.chat.completions.stream(REQUEST).finalChatCompletion()
    expect(answer.choices[0]).toMatchObject({
      message: { content: 'Hello' },
      finish_reason: 'stop',
    })
  })

  it('tries again after a 500, and gets its answer', async () => {
    const { client, upstream } = await start(inTurn(json(500, {}), json(200, ANSWER)))
    const answer = await client.chat.completions.create(REQUEST)
    expect(answer.choices[0]?.message.content).toBe('Hello')
    expect(upstream.requests).toHaveLength(2)
  })

  it('does not try again what was tried here', async () => {
    const { client, upstream } = await start(json(503, {}))
    await expect(client.chat.completions.create(REQUEST)).rejects.toMatchObject({
      code: 'upstream_error',
    })
    expect(upstream.requests).toHaveLength(3)
  })

  it('gets tool calls of a stream', async () => {
    const call = { index: 0, id: 't', type: 'function', function: { name: 'f', arguments: '' } }
    const more = { index: 0, function: { arguments: '{"a":1}' } }
    const { client, upstream } = await start(
      stream([
        event(chunk([{ index: 0, delta: { role: 'assistant', tool_calls: [call] } }])),
        event(chunk([{ index: 0, delta: { tool_calls: [more] } }])),
        event(chunk([{ index: 0, delta: {}, finish_reason: 'tool_calls' }])),
        DONE,
      ]),
    )
    const tools = [{ type: 'function' as const, function: { name: 'f', parameters: {} } }]
    const answer = await client.chat.completions
      .stream({ ...REQUEST, tools, tool_choice: 'required' })
      .finalChatCompletion()
    expect(answer.choices[0]?.message.tool_calls?.[0]).toMatchObject({
      id: 't',
      function: { name: 'f', arguments: '{"a":1}' },
    })
    expect(JSON.parse(upstream.requests[0]!.body)).toMatchObject({ tools, tool_choice: 'required' })
  })

  it('gets an answer of a schema', async () => {
    const { client, upstream } = await start(json(200, answerOf({ content: '{"a":1}' })))
    const response_format = {
      type: 'json_schema' as const,
      json_schema: { name: 'x', strict: true, schema: { type: 'object' } },
    }
    const parsed = await client.chat.completions.parse({ ...REQUEST, response_format })
    expect(parsed.choices[0]?.message.parsed).toEqual({ a: 1 })
    expect(JSON.parse(upstream.requests[0]!.body).response_format).toEqual(response_format)
  })

  it('names its project, and the completion is recorded there', async () => {
    const { client, deps } = await start(json(200, ANSWER))
    const { response } = await client
      .withOptions({ project: 'acme/demo' })
      .chat.completions.create(REQUEST)
      .withResponse()
    const id = String(response.headers.get('x-weft-call-id'))
    await expect.poll(() => deps.calls.findCall('acme/demo', id)).not.toBeNull()
  })

  it('that gives up waiting cuts the upstream connection', async () => {
    const { client, upstream } = await start(silence)
    const failure = client.chat.completions.create(REQUEST, { timeout: 1_500, maxRetries: 0 })
    await expect(failure).rejects.toBeInstanceOf(OpenAI.APIConnectionTimeoutError)
    expect(await (await upstream.arrival(0)).closed).toEqual({ isAnswered: false })
  })

  it.each<[string, boolean, Behaviour]>([
    ['in the middle of a stream', true, stream(HELLO_EVENTS.slice(0, 2), 'hang')],
    ['while it waits for a whole answer', false, silence],
  ])('that leaves %s cuts the upstream connection', async (_name, isStream, behaviour) => {
    const { client, upstream } = await start(behaviour)
    const leave = new AbortController()
    const options = { signal: leave.signal }
    const answer = isStream
      ? (async () => {
          const body = { ...REQUEST, stream: true as const }
          const events = await client.chat.completions.create(body, options)
          for await (const { choices } of events) if (choices[0]?.delta.content) leave.abort()
        })()
      : client.chat.completions.create(REQUEST, options)
    const ended = answer.then(
      () => null,
      (error: unknown) => error,
    )
    const { closed } = await upstream.arrival(0)
    if (!isStream) leave.abort()
    expect(await closed).toEqual({ isAnswered: false })
    if (!isStream) expect(await ended).toBeInstanceOf(OpenAI.APIUserAbortError)
  })

  it('learns that a stream broke off', async () => {
    const { client } = await start(stream(HELLO_EVENTS.slice(0, 2), 'cut'))
    const events = await client.chat.completions.create({ ...REQUEST, stream: true })
    let text = ''
    const reading = (async () => {
      for await (const { choices } of events) text += choices[0]?.delta.content ?? ''
    })()
    await expect(reading).rejects.toMatchObject({ code: 'upstream_error' })
    expect(text).toBe('Hello')
  })

  it('gets the Retry-After of the upstream', async () => {
    const busy = json(429, {}, { 'retry-after': '6' })
    const { client, upstream } = await start(inTurn(busy, json(200, ANSWER)))
    const failure = client.chat.completions.create(REQUEST, { maxRetries: 0 })
    await expect(failure).rejects.toMatchObject({ status: 429, code: 'upstream_rate_limited' })
    await expect(failure).rejects.toSatisfy(
      ({ headers }: { headers: Headers }) => headers.get('retry-after') === '6',
    )
    expect(upstream.requests).toHaveLength(1)
  })

  it('gets the message of the upstream about a wrong field', async () => {
    const error = { message: 'top_k is odd', type: 'BadRequestError', param: 'top_k', code: 400 }
    const { client } = await start(json(400, { error }))
    const failure = client.chat.completions.create(REQUEST)
    await expect(failure).rejects.toBeInstanceOf(OpenAI.BadRequestError)
    await expect(failure).rejects.toMatchObject({ param: 'top_k', code: 'invalid_value' })
  })
})
