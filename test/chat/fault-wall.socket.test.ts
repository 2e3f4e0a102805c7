import { connect } from 'node:net'
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

const MESSAGES = [{ role: 'user' as const, content: 'hi' }]
const REQUEST = { model: 'org/relayed', messages: MESSAGES }
const ANSWER = {
  id: 'up',
  object: 'chat.completion',
  created: 1,
  model: 'up',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
}

async function start(behaviour: Behaviour) {
  const upstream = await startFakeUpstream(behaviour)
  const server = await startModelServer(upstreamModel(upstream.baseUrl))
  const client = new OpenAI({ baseURL: server.baseUrl, apiKey: server.key, maxRetries: 2 })
  return { ...server, upstream, client }
}

function inTurn(...behaviours: Behaviour[]): Behaviour {
  let at = 0
  return (response, request) =>
    behaviours[Math.min(at++, behaviours.length - 1)]?.(response, request)
}

describe('an upstream with odd manners', () => {
  it('may send early hints before its answer', async () => {
    const { chat } = await start((response, request) => {
      response.writeEarlyHints({ link: '</x>; rel=preload' })
      return json(200, ANSWER)(response, request)
    })
    const response = await chat(REQUEST)
    expect([response.status, await response.json()]).toEqual([200, ANSWER])
  })

  it.each([false, true])('may send 100 Continue unasked, stream %s', async (isStream) => {
    const fine = isStream ? stream([...HELLO_EVENTS, DONE]) : json(200, ANSWER)
    const { chat, upstream } = await start((response, request) => {
      response.writeContinue()
      response.writeEarlyHints({ link: '</x>; rel=preload' })
      response.writeContinue()
      return fine(response, request)
    })
    for (let at = 0; at < 2; at++) {
      const response = await chat({ ...REQUEST, stream: isStream })
      expect(response.status).toBe(200)
      expect(await response.text()).toBe(
        isStream ? [...HELLO_EVENTS, DONE].join('') : JSON.stringify(ANSWER),
      )
    }
    expect(upstream.connectionCount()).toBe(1)
  })

  it('may send an interim answer in any pieces, and an answer that looks like one in its body', async () => {
    const body = JSON.stringify({ ...ANSWER, id: 'HTTP/1.1 100 Continue' })
    const text =
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\nx: y\r\n\r\n' +
      `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
    const { chat } = await start(async (response) => {
      for (const character of text) {
        response.socket?.write(character)
        await new Promise(setImmediate)
      }
    })
    const response = await chat(REQUEST)
    expect([response.status, await response.text()]).toEqual([200, body])
  })

  it('may leave the usage out of a stream: the call is recorded without', async () => {
    const { chat, deps } = await start(stream([...HELLO_EVENTS, DONE]))
    const headers = { 'Compat-Project': 'acme/demo' }
    const response = await chat({ ...REQUEST, stream: true }, { headers })
    expect(await response.text()).toBe([...HELLO_EVENTS, DONE].join(''))
    const id = String(response.headers.get('x-weft-call-id'))
    await expect.poll(() => deps.calls.findCall('acme/demo', id)).not.toBeNull()
    const call = await deps.calls.findCall('acme/demo', id)
    expect(call?.summary).not.toHaveProperty('usage')
    expect(call?.output).toMatchObject({ choices: [{ message: { content: 'Hello' } }] })
  })
})

describe('a client with odd manners', () => {
  it('may wait for 100 Continue before it sends its body', async () => {
    const { baseUrl, key } = await start(json(200, ANSWER))
    const body = JSON.stringify(REQUEST)
    const socket = connect({ port: Number(new URL(baseUrl).port), host: '127.0.0.1' })
    socket.setEncoding('utf8')
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n` +
        `content-type: application/json\r\ncontent-length: ${body.length}\r\n` +
        'expect: 100-continue\r\nconnection: close\r\n\r\n',
    )
    let text = ''
    for await (const piece of socket) {
      if (text === '') socket.write(body)
      text += piece
    }
    expect(text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/)
    expect(text).toContain(JSON.stringify(ANSWER))
  })
})

describe('the openai package over a relayed model', () => {
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
    const message = { role: 'assistant', content: '{"a":1}' }
    const answer = { ...ANSWER, choices: [{ index: 0, message, finish_reason: 'stop' }] }
    const { client, upstream } = await start(json(200, answer))
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
    const failure = client.chat.completions.create(REQUEST, { timeout: 200, maxRetries: 0 })
    await expect(failure).rejects.toBeInstanceOf(OpenAI.APIConnectionTimeoutError)
    expect(await (await upstream.arrival(0)).closed).toEqual({ isAnswered: false })
  })
})
