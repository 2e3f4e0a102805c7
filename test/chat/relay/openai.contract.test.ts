import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { createOpenAiBackend } from '../../../src/inference/openai/backend.ts'
import {
  type Behaviour,
  chunk,
  DONE,
  event,
  HELLO_EVENTS,
  html,
  json,
  reset,
  silence,
  startFakeUpstream,
  stream,
} from '../../support/fake-upstream.ts'
import {
  eventsOf,
  startModelServer,
  TIMEOUT_MS,
  upstreamModel,
} from '../../support/model-server.ts'
import { describeBackendContract } from '../backend-contract.ts'

const MESSAGES = [{ role: 'user', content: 'hi' }]
const ANSWER = {
  id: 'chatcmpl-up',
  object: 'chat.completion',
  created: 1,
  model: 'up',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
}

describeBackendContract('the openai backend', async () => {
  let running = 0
  const upstream = await startFakeUpstream((response, request) => {
    running += 1
    void request.closed.then(() => {
      running -= 1
    })
    const isStream = JSON.parse(request.body).stream === true
    const behaviour = isStream ? stream([...HELLO_EVENTS, DONE]) : json(200, ANSWER)
    return behaviour(response, request)
  })
  const backend = createOpenAiBackend({
    upstreams: [{ baseUrl: upstream.baseUrl, apiKey: null }],
    timeoutMs: TIMEOUT_MS,
  })
  return { backend, model: 'm', runningCount: () => running }
})

async function start(behaviour?: Behaviour, options: Parameters<typeof upstreamModel>[1] = {}) {
  const upstream = await startFakeUpstream(behaviour)
  const server = await startModelServer(upstreamModel(upstream.baseUrl, options))
  return { ...server, upstream }
}

/** What a client gets from an upstream that behaves so. */
async function ask(
  behaviour: Behaviour,
  request: object = {},
  options: Parameters<typeof upstreamModel>[1] = {},
) {
  const { chat, upstream } = await start(behaviour, options)
  const response = await chat({ messages: MESSAGES, ...request })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, upstream }
}

describe('a relayed request', () => {
  it('is the received text with the upstream name of the model', async () => {
    const { chat, upstream } = await start(json(200, ANSWER), { upstreamModel: 'up/m' })
    const text = `{ "seed" : 9223372036854775807,"model":"short", "messages": [{"role":"user","content":"é"}],
      "engine_xargs":{"x":1.0}, "top_k": 3, "unknown_field": {"a":[1e40]} }`
    expect((await chat(text)).status).toBe(200)
    expect(upstream.requests[0]?.body).toBe(text.replace('"short"', '"up/m"'))
  })

  it('goes to the path under the base address, with our key and the request id', async () => {
    const { chat, upstream } = await start(json(200, ANSWER), { apiKey: 'up-key' })
    const headers = { 'x-request-id': 'r-1', 'openai-organization': 'o', cookie: 'a=b' }
    await chat({ messages: MESSAGES }, { headers })
    const [request] = upstream.requests
    expect(request?.url).toBe('/v1/chat/completions')
    expect(request?.headers).toMatchObject({
      authorization: 'Bearer up-key',
      'content-type': 'application/json',
      'x-request-id': 'r-1',
    })
    expect(request?.headers).not.toHaveProperty('cookie')
    expect(request?.headers).not.toHaveProperty('openai-organization')
  })

  it('refuses by name what the engine does not honour, and sends nothing', async () => {
    const { chat, upstream } = await start(json(200, ANSWER), { engine: 'ollama' })
    const response = await chat({ messages: MESSAGES, top_k: 5 })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: { code: 'unsupported_parameter', param: 'top_k' },
    })
    expect(upstream.requests).toEqual([])
  })

  it('is sent without unsupported fields where the model allows it, and the answer names them', async () => {
    const { chat, upstream } = await start(json(200, ANSWER), {
      engine: 'ollama',
      unsupported: 'drop',
    })
    const response = await chat({ messages: MESSAGES, top_k: 5, echo: true, min_p: 0 })
    expect(response.status).toBe(200)
    expect(response.headers.get('x-weft-dropped-fields')).toBe('top_k, echo')
    expect(JSON.parse(upstream.requests[0]!.body)).toEqual({
      messages: MESSAGES,
      model: 'org/relayed',
    })
  })

  it('names no dropped fields when none was dropped', async () => {
    const { headers } = await ask(
      json(200, ANSWER),
      { parallel_tool_calls: true },
      {
        engine: 'ollama',
      },
    )
    expect(headers.has('x-weft-dropped-fields')).toBe(false)
  })

  it('never carries the key of the client', async () => {
    const { chat, upstream, key } = await start(json(200, ANSWER))
    await chat({ messages: MESSAGES })
    expect(upstream.requests[0]?.headers).not.toHaveProperty('authorization')
    expect(JSON.stringify(upstream.requests)).not.toContain(key)
  })

  it.each(['/', '?api-version=1', ''])('joins a base address that ends in %j', async (end) => {
    const upstream = await startFakeUpstream(json(200, ANSWER))
    const { chat } = await startModelServer(upstreamModel(`${upstream.baseUrl}${end}`))
    expect((await chat({ messages: MESSAGES })).status).toBe(200)
    expect(upstream.requests[0]?.url).toBe(`/v1/chat/completions${end.startsWith('?') ? end : ''}`)
  })
})

describe('a relayed answer', () => {
  const message = {
    role: 'assistant',
    content: 'x',
    refusal: 'no',
    annotations: [{ type: 'url_citation', url_citation: { start_index: 0, end_index: 1 } }],
    audio: { id: 'a', data: 'eA==', expires_at: 1, transcript: 'x' },
    function_call: { name: 'f', arguments: '{}' },
    tool_calls: [{ id: 't', type: 'function', function: { name: 'f', arguments: '{}' } }],
    reasoning: 'why',
    reasoning_content: 'why',
  }
  const full = {
    ...ANSWER,
    service_tier: 'flex',
    system_fingerprint: 'fp',
    prompt_logprobs: [null, { '7': { logprob: -1, rank: 1, decoded_token: 'x' } }],
    prompt_token_ids: [1, 2],
    kv_transfer_params: { a: null },
    choices: [
      { index: 0, message, logprobs: null, finish_reason: 'stop', stop_reason: 7, token_ids: [1] },
    ],
  }

  it.each([
    'service_tier',
    'system_fingerprint',
    'prompt_logprobs',
    'prompt_token_ids',
    'kv_transfer_params',
  ] as const)('keeps §4.3 response %s', async (field) => {
    const { text } = await ask(json(200, full))
    expect(JSON.parse(text)[field]).toEqual(full[field])
  })

  it('keeps §4.3 choice token_ids', async () => {
    const { text } = await ask(json(200, full))
    expect(JSON.parse(text).choices[0].token_ids).toEqual([1])
  })

  it.each([
    'annotations',
    'audio',
    'function_call',
    'tool_calls',
    'reasoning',
    'reasoning_content',
  ] as const)('keeps §4.3 message %s', async (field) => {
    const { text } = await ask(json(200, full))
    expect(JSON.parse(text).choices[0].message[field]).toEqual(message[field])
  })

  it('is the same bytes, digits and unknown keys included', async () => {
    const body = '{ "choices" : [],\n"x":9223372036854775807, "y":1.0, "é":"\\u00e9😀" }\n'
    const { text, headers } = await ask(json(200, body))
    expect(text).toBe(body)
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
  })

  it('is the same events in the same order, however the bytes are cut', async () => {
    const data = ['{ "choices":[ ],"x":9223372036854775807}', '{"é":"😀"}', '{"choices":[],"n":1}']
    const bytes = Buffer.from(
      `\uFEFF: ping\r\n\r\n${data.map((json) => `data:${json}\r\n\r\n`).join('')}${DONE}`,
    )
    const pieces = [...bytes].map((byte) => Uint8Array.of(byte))
    const { status, text } = await ask(stream(pieces), { stream: true })
    expect(status).toBe(200)
    expect(eventsOf(text)).toEqual([...data, '[DONE]'])
  })

  it('may be one event of many megabytes', async () => {
    const big = JSON.stringify(chunk([{ index: 0, delta: { content: 'x'.repeat(10_000_000) } }]))
    const { text } = await ask(stream([event(big), DONE]), { stream: true })
    expect(eventsOf(text)).toEqual([big, '[DONE]'])
  })

  it('may end without [DONE] once every choice has ended', async () => {
    const { text } = await ask(stream(HELLO_EVENTS), { stream: true })
    expect(eventsOf(text)).toHaveLength(HELLO_EVENTS.length + 1)
    expect(text).not.toContain('error')
  })

  it('does not repeat what comes after [DONE]', async () => {
    const { text } = await ask(stream([...HELLO_EVENTS, DONE, event('{"late":1}')]), {
      stream: true,
    })
    expect(eventsOf(text).slice(-2)).toEqual([expect.stringContaining('"stop"'), '[DONE]'])
  })
})

describe.each([false, true])('an upstream that fails before its answer, stream %s', (isStream) => {
  it.each<[string, Behaviour, number, string]>([
    ['closes the connection', reset, 502, 'upstream_unreachable'],
    ['answers 500', json(500, { error: { message: 'x' } }), 502, 'upstream_error'],
    ['answers 503 in HTML', html(503), 502, 'upstream_error'],
    ['answers 200 in HTML', html(200), 502, 'upstream_invalid_response'],
    ['answers 200 with broken JSON', json(200, '{"choices":'), 502, 'upstream_invalid_response'],
    ['answers 200 with other JSON', json(200, '{"ok":true}'), 502, 'upstream_invalid_response'],
    ['answers 200 with an error', json(200, { error: { code: 400 } }), 400, 'invalid_value'],
    ['answers 302', json(302, '', { location: 'http://10.0.0.7' }), 502, 'upstream_error'],
    ['refuses our key', json(401, { error: { message: 'bad key' } }), 502, 'upstream_auth'],
    ['forbids', json(403, {}), 502, 'upstream_auth'],
    ['does not know the model', json(404, { message: 'no' }), 502, 'upstream_error'],
    [
      'compresses otherwise than it says',
      json(200, ANSWER, { 'content-encoding': 'gzip' }),
      502,
      'upstream_invalid_response',
    ],
    [
      'compresses in a way that is not known',
      json(200, ANSWER, { 'content-encoding': 'compress' }),
      502,
      'upstream_invalid_response',
    ],
    ['breaks off its error', stream(['x'], 'cut'), 502, 'upstream_error'],
  ])('that %s is %i', async (_name, behaviour, expected, code) => {
    const { status, text } = await ask(behaviour, { stream: isStream })
    expect([status, JSON.parse(text).error.code]).toEqual([expected, code])
    expect(text).not.toMatch(/10\.0\.0\.7|127\.0\.0\.1|<html>/)
  })

  it('that rejects the request has its message and param passed on', async () => {
    const error = { message: 'top_k is odd', type: 'BadRequestError', param: 'top_k', code: 400 }
    const { status, text } = await ask(json(400, { error }), { stream: isStream })
    expect(status).toBe(400)
    expect(JSON.parse(text).error).toEqual({
      message: 'top_k is odd',
      type: 'invalid_request_error',
      param: 'top_k',
      code: 'invalid_value',
    })
  })

  it('that does not know its address is named with its status', async () => {
    const { text } = await ask(json(404, { message: 'no' }), { stream: isStream })
    expect(JSON.parse(text).error.message).toBe('The upstream failed with status 404.')
  })

  it('that is full passes Retry-After on', async () => {
    const behaviour = json(429, { error: { message: 'slow down' } }, { 'retry-after': '7' })
    const { status, headers, text } = await ask(behaviour, { stream: isStream })
    expect([status, headers.get('retry-after')]).toEqual([429, '7'])
    expect(JSON.parse(text).error.code).toBe('upstream_rate_limited')
  })

  it('that is silent times out', async () => {
    const timeoutMs = isStream ? { first_byte: 500 } : { total: 500 }
    const { status, text, upstream } = await ask(silence, { stream: isStream }, { timeoutMs })
    expect([status, JSON.parse(text).error.code]).toEqual([504, 'upstream_timeout'])
    expect(await upstream.requests[0]?.closed).toEqual({ isAnswered: false })
  })

  it('that nobody listens for is unreachable', async () => {
    const { chat } = await startModelServer(
      upstreamModel(`http://127.0.0.1:${await freePort()}/v1`),
    )
    const response = await chat({ messages: MESSAGES, stream: isStream })
    expect(response.status).toBe(502)
    expect(await response.json()).toMatchObject({ error: { code: 'upstream_unreachable' } })
  })

  it('that floods an error body is cut off', async () => {
    const flood: Behaviour = (response) => {
      response.writeHead(400, { 'content-type': 'application/json' })
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(16_384)));
        response.once('drain', more)
      }
      more()
    }
    const { status, upstream } = await ask(flood, { stream: isStream })
    expect(status).toBe(400)
    expect(await upstream.requests[0]?.closed).toEqual({ isAnswered: false })
  })
})

describe('a stream that fails', () => {
  it('with its first event has a real status', async () => {
    const error = event({ error: { message: 'too long', type: 'BadRequestError', code: 400 } })
    const { status, text } = await ask(stream([error, DONE]), { stream: true })
    expect([status, JSON.parse(text).error]).toEqual([
      400,
      expect.objectContaining({ code: 'invalid_value', message: 'too long' }),
    ])
  })

  it.each<[string, Behaviour]>([
    ['[DONE] alone', stream([DONE])],
    ['no event at all', stream([])],
    ['a first event that is no JSON', stream([event('{"a":'), DONE])],
    ['a first event that is no object', stream([event('7'), DONE])],
  ])('with %s has status 502', async (_name, behaviour) => {
    expect((await ask(behaviour, { stream: true })).status).toBe(502)
  })

  const [role, hello, end] = HELLO_EVENTS as [string, string, string]
  it.each<[string, Behaviour, string]>([
    ['is cut', stream([role, hello], 'cut'), 'upstream_error'],
    ['ends early', stream([role, hello]), 'upstream_error'],
    ['ends inside of an event', stream([role, hello, end.slice(0, 30)]), 'upstream_error'],
    ['stalls', stream([role, hello], 'hang'), 'upstream_timeout'],
    [
      'says so',
      stream([role, hello, event({ error: { message: 'x', code: 500 } })]),
      'upstream_error',
    ],
    [
      'turns into nonsense',
      stream([role, hello, event('{'), end, DONE]),
      'upstream_invalid_response',
    ],
  ])(
    'after its first event because it %s ends in an error event',
    async (_name, behaviour, code) => {
      const { status, text } = await ask(behaviour, { stream: true }, { timeoutMs: { idle: 60 } })
      const events = eventsOf(text)
      expect(status).toBe(200)
      expect(events.slice(0, 2)).toEqual([role, hello].map((text) => text.slice(6, -2)))
      expect(JSON.parse(events[2]!)).toMatchObject({ error: { code } })
      expect(events[3]).toBe('[DONE]')
      expect(events).toHaveLength(4)
    },
  )

  it('because one of two choices never ends, ends in an error event', async () => {
    const { text } = await ask(stream(HELLO_EVENTS), { stream: true, n: 2 })
    expect(JSON.parse(eventsOf(text).at(-2)!)).toMatchObject({ error: { code: 'upstream_error' } })
  })

  it('because it lasts too long, ends in an error event', async () => {
    const trickle: Behaviour = async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      while (!response.destroyed) {
        response.write(HELLO_EVENTS[1])
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    }
    const { text } = await ask(trickle, { stream: true }, { timeoutMs: { total: 120 } })
    expect(JSON.parse(eventsOf(text).at(-2)!)).toMatchObject({
      error: { code: 'upstream_timeout' },
    })
  })
})

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
