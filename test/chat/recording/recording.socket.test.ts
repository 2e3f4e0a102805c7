import { describe, expect, it } from 'vitest'
import { JSON_DEPTH_MAX } from '../../../src/domain/json/json-limits.ts'
import {
  type Behaviour,
  chunk,
  DONE,
  event,
  HELLO_EVENTS,
  json,
  startFakeUpstream,
  stream,
} from '../../support/fake-upstream.ts'
import { eventsOf, startModelServer, upstreamModel } from '../../support/model-server.ts'
import {
  createScriptedBackend,
  NEVER,
  piece,
  prompt,
  scriptedModels,
} from '../../support/scripted-backend.ts'

const PROJECT = 'acme/demo'
const HEADERS = { 'OpenAI-Project': PROJECT }
const REQUEST = { messages: [{ role: 'user', content: 'hi' }], stream: true }
const USAGE = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }
const USAGE_EVENT = event(chunk([], { usage: USAGE }))
const WITH_USAGE = stream([...HELLO_EVENTS, USAGE_EVENT, DONE])

async function startRecording(behaviour: Behaviour) {
  const upstream = await startFakeUpstream(behaviour)
  const server = await startModelServer(upstreamModel(upstream.baseUrl))
  async function readCall(response: Response) {
    const id = String(response.headers.get('x-weft-call-id'))
    await expect.poll(() => server.deps.calls.findCall(PROJECT, id)).not.toBeNull()
    return server.deps.calls.findCall(PROJECT, id)
  }
  return { ...server, upstream, readCall }
}

describe('the usage of a relayed stream', () => {
  it.each([
    ['no stream_options', {}],
    ['null', { stream_options: null }],
    ['an empty object', { stream_options: {} }],
    ['false', { stream_options: { include_usage: false } }],
    ['continuous_usage_stats alone', { stream_options: { continuous_usage_stats: true } }],
  ])(
    'usage is requested from the upstream, and hidden from a client that sent %s',
    async (_name, options) => {
      const { chat, upstream } = await startRecording(WITH_USAGE)
      const text = await (await chat({ ...REQUEST, ...options })).text()
      expect(JSON.parse(upstream.requests[0]!.body).stream_options).toEqual({ include_usage: true })
      expect(text).toBe([...HELLO_EVENTS, DONE].join(''))
    },
  )

  it.each([{}, { continuous_usage_stats: true }, { unknown: 1 }])(
    'usage reaches the client that requested it, %j',
    async (more) => {
      const { chat, upstream } = await startRecording(WITH_USAGE)
      const options = { include_usage: true, ...more }
      const text = await (await chat({ ...REQUEST, stream_options: options })).text()
      expect(JSON.parse(upstream.requests[0]!.body).stream_options).toEqual(options)
      expect(text).toBe([...HELLO_EVENTS, USAGE_EVENT, DONE].join(''))
    },
  )

  it('usage is not requested without a stream', async () => {
    const { chat, upstream } = await startRecording(json(200, { choices: [] }))
    await chat({ ...REQUEST, stream: false })
    expect(JSON.parse(upstream.requests[0]!.body)).not.toHaveProperty('stream_options')
  })

  it('usage is read from the last chunk of Groq', async () => {
    const last = { index: 0, delta: {}, finish_reason: 'stop' }
    const end = event(chunk([last], { x_groq: { id: 'req_1', usage: USAGE } }))
    const { chat, readCall } = await startRecording(
      stream([...HELLO_EVENTS.slice(0, 2), end, DONE]),
    )
    const response = await chat(REQUEST, { headers: HEADERS })
    expect(await response.text()).toContain(end)
    expect((await readCall(response))?.summary.usage).toEqual({ 'org/relayed': USAGE })
  })

  it('hiding usage changes no other event, null usage included', async () => {
    const events = [
      event('{ "choices" : [{"index":0,"delta":{"content":"a"}}],"usage":null,"n":1.0}'),
      event(chunk([{ index: 0, delta: {}, finish_reason: 'stop' }], { usage: USAGE })),
    ]
    const { chat } = await startRecording(stream([...events, USAGE_EVENT, DONE]))
    expect(await (await chat(REQUEST)).text()).toBe([...events, DONE].join(''))
  })
})

describe('the recording of a relayed completion', () => {
  it('a relayed completion is recorded as received', async () => {
    const body = '{"choices":[{"index":0,"message":{"content":"x"}}],"usage":{"total_tokens":4}}'
    const { chat, readCall } = await startRecording(json(200, body))
    const call = await readCall(await chat({ ...REQUEST, stream: false }, { headers: HEADERS }))
    expect(call).toMatchObject({
      exception: null,
      output: JSON.parse(body),
      summary: { usage: { 'org/relayed': { total_tokens: 4 } } },
      attributes: { model: 'org/relayed', stream: false },
    })
  })

  it('a response of several lines is recorded on one, with every digit', async () => {
    const { chat, readCall } = await startRecording(
      json(200, '{\n  "choices": [],\n  "n": 12345678901234567890\n}\n'),
    )
    const call = await readCall(await chat({ ...REQUEST, stream: false }, { headers: HEADERS }))
    expect(JSON.stringify(call?.output)).toBe('{"choices":[],"n":12345678901234567890}')
  })

  it('a response that nests too deeply is left out of the record', async () => {
    const deep = '['.repeat(JSON_DEPTH_MAX) + ']'.repeat(JSON_DEPTH_MAX)
    const { chat, readCall } = await startRecording(json(200, `{"choices":[],"x":${deep}}`))
    const response = await chat({ ...REQUEST, stream: false }, { headers: HEADERS })
    const call = await readCall(response)
    expect(call).toMatchObject({ output: null, attributes: { output_cut: true } })
    expect(await response.text()).toContain(deep)
  })

  it('a usage that nests too deeply is left out of the record', async () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000)
    const body = `{"choices":[],"usage":{"total_tokens":4,"x":${deep}}}`
    const { chat, readCall } = await startRecording(json(200, body))
    const call = await readCall(await chat({ ...REQUEST, stream: false }, { headers: HEADERS }))
    expect(call).toMatchObject({ exception: null, output: null })
    expect(call?.summary).not.toHaveProperty('usage')
  })

  it('an event that nests too deeply is left out of the record', async () => {
    const depth = 100_000
    const deep = '['.repeat(depth) + ']'.repeat(depth)
    const said = JSON.stringify(chunk([{ index: 0, delta: {} }], { usage: USAGE, x: 0 }))
    const [first, hello, last] = HELLO_EVENTS as [string, string, string]
    const odd = event(said.replace('"prompt_tokens":7', `"prompt_tokens":${deep}`))
    const { chat, readCall } = await startRecording(stream([first, odd, hello, last, DONE]))
    const response = await chat(REQUEST, { headers: HEADERS })
    expect(await response.text()).toBe([first, odd, hello, last, DONE].join(''))
    expect(await readCall(response)).toMatchObject({
      exception: null,
      attributes: { output_cut: true },
      output: { choices: [{ message: { content: 'Hello' } }] },
    })
  })

  it('the record has the joined message, tool calls included, and the hidden usage', async () => {
    const call0 = {
      index: 0,
      id: 't',
      type: 'function',
      function: { name: 'f', arguments: '{"a"' },
    }
    const deltas = [
      { role: 'assistant', content: '' },
      { reasoning_content: 'wh' },
      { reasoning_content: 'y' },
      { content: 'Hel' },
      { content: 'lo' },
      { tool_calls: [call0] },
      { tool_calls: [{ index: 0, function: { arguments: ':1}' } }] },
    ]
    const events = deltas.map((delta) => event(chunk([{ index: 0, delta, finish_reason: null }])))
    const end = event(chunk([{ index: 0, delta: {}, finish_reason: 'tool_calls' }]))
    const { chat, readCall } = await startRecording(stream([...events, end, USAGE_EVENT, DONE]))
    const response = await chat(REQUEST, { headers: HEADERS })
    await response.text()
    const call = await readCall(response)
    expect(call?.output).toEqual({
      id: 'chatcmpl-up',
      created: 1,
      model: 'up',
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'Hello',
            reasoning: 'why',
            reasoning_content: 'why',
            tool_calls: [
              { id: 't', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
            ],
          },
          finish_reason: 'tool_calls',
        },
      ],
    })
    expect(call?.summary.usage).toEqual({ 'org/relayed': USAGE })
  })

  it('the record has the joined call of a custom tool', async () => {
    const begun = { index: 0, id: 't', type: 'custom', custom: { name: 'code', input: 'a ' } }
    const deltas = [{ tool_calls: [begun] }, { tool_calls: [{ index: 0, custom: { input: 'b' } }] }]
    const events = deltas.map((delta) => event(chunk([{ index: 0, delta, finish_reason: null }])))
    const { chat, readCall } = await startRecording(stream([...events, DONE]))
    const response = await chat(REQUEST, { headers: HEADERS })
    await response.text()
    const call = await readCall(response)
    const tool_calls = [{ id: 't', type: 'custom', custom: { name: 'code', input: 'a b' } }]
    expect(call?.output).toMatchObject({ choices: [{ message: { content: null, tool_calls } }] })
  })

  it('the record has the received part of a broken stream', async () => {
    const { chat, readCall } = await startRecording(stream(HELLO_EVENTS.slice(0, 2), 'cut'))
    const response = await chat(REQUEST, { headers: HEADERS })
    expect(JSON.parse(eventsOf(await response.text()).at(-2)!).error.code).toBe('upstream_error')
    expect(await readCall(response)).toMatchObject({
      exception: expect.stringMatching(/^upstream_error: /),
      output: { choices: [{ message: { content: 'Hello' }, finish_reason: null }] },
    })
  })

  it('the record has the received part of an abandoned stream', async () => {
    const { chat, readCall } = await startRecording(stream(HELLO_EVENTS.slice(0, 2), 'hang'))
    const leave = new AbortController()
    const response = await chat(REQUEST, { headers: HEADERS, signal: leave.signal })
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    while (!text.includes('Hello')) text += (await reader.read()).value
    leave.abort()
    await reader.closed.catch(() => {})
    expect(await readCall(response)).toMatchObject({
      exception: expect.stringMatching(/^client_closed_request: /),
      output: { choices: [{ message: { content: 'Hello' } }] },
      summary: { usage: { 'org/relayed': { completion_tokens: 1, total_tokens: 1 } } },
      attributes: { usage_estimated: true },
    })
  })

  it('the record of a stream ended by a closing server has its received part', async () => {
    const backend = createScriptedBackend([prompt(), piece('a'), NEVER])
    const { app, deps, chat } = await startModelServer(scriptedModels({ backend }))
    const response = await chat(REQUEST, { headers: HEADERS })
    while (backend.pulledCount() < 2) await new Promise(setImmediate)
    const text = response.text()
    await app.close()
    expect(await text).toContain('server_draining')
    const id = String(response.headers.get('x-weft-call-id'))
    expect(await deps.calls.findCall(PROJECT, id)).toMatchObject({
      exception: expect.stringMatching(/^server_draining: /),
      output: { choices: [{ message: { content: 'a' } }] },
    })
  })
})

describe('the token limit of a key', () => {
  async function startLimited(behaviour: Behaviour) {
    const upstream = await startFakeUpstream(behaviour)
    const models = upstreamModel(upstream.baseUrl)
    return { ...(await startModelServer(models, { keyTokensPerMinute: 2 })), upstream }
  }

  it.each<[string, Behaviour]>([
    ['whose usage the client did not ask for', WITH_USAGE],
    ['without usage, by its pieces', stream([...HELLO_EVENTS.slice(0, 2), ...HELLO_EVENTS, DONE])],
  ])('the token limit counts a stream %s', async (_name, behaviour) => {
    const { chat } = await startLimited(behaviour)
    expect(await (await chat(REQUEST)).text()).toContain('[DONE]')
    expect((await chat(REQUEST)).status).toBe(429)
  })

  it('the token limit counts the received part of an abandoned stream', async () => {
    const twice = stream([...HELLO_EVENTS, ...HELLO_EVENTS], 'hang')
    const { chat, upstream } = await startLimited(twice)
    const leave = new AbortController()
    const response = await chat(REQUEST, { signal: leave.signal })
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    while (text.split('Hello').length < 3) text += (await reader.read()).value
    leave.abort()
    await reader.closed.catch(() => {})
    upstream.behave(json(200, { choices: [] }))
    const ask = async () => (await chat({ ...REQUEST, stream: false })).status
    await expect.poll(ask).toBe(429)
  })
})
