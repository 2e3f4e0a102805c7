/** What llama-server does otherwise than the interface says, scripted as the real server was seen to answer. */
import { describe, expect, it } from 'vitest'
import {
  type Behaviour,
  chunk,
  DONE,
  event,
  json,
  startFakeUpstream,
  stream,
} from '../../support/fake-upstream.ts'
import { eventsOf, startModelServer, upstreamModel } from '../../support/model-server.ts'

const MESSAGES = [{ role: 'user', content: 'hi' }]
const REQUEST = { model: 'org/relayed', messages: MESSAGES }
const usage = (prompt: number, completion: number) => ({
  completion_tokens: completion,
  prompt_tokens: prompt,
  total_tokens: prompt + completion,
  prompt_tokens_details: { cached_tokens: 1 },
})
interface AnyAnswer {
  readonly choices: readonly { readonly text?: string }[]
}

const choice = (index: number, delta: object, finish_reason: string | null = null) => ({
  index,
  delta,
  finish_reason,
})

/** Three choices of a chat, each with a usage of its own. */
const CHAT_EVENTS = [
  ...[0, 1, 2].map((at) => event(chunk([choice(at, { role: 'assistant', content: null })]))),
  ...[0, 1, 2].flatMap((at) => [
    event(chunk([choice(at, { content: `a${at}` })])),
    event(chunk([choice(at, {}, 'stop')])),
    event(chunk([], { usage: usage(9, 10 + at) })),
  ]),
  DONE,
]

/** Two prompts of a legacy completion with two choices each; the stream begins with null. */
const TEXT_EVENTS = [
  event('null'),
  ...[0, 1, 2, 3].flatMap((at) => {
    const head = { id: 'c', object: 'text_completion', created: 1, model: 'up' }
    const text = { index: at, text: `t${at}`, logprobs: null, finish_reason: null }
    const end = { index: at, text: '', logprobs: null, finish_reason: 'stop' }
    const used = usage(at < 2 ? 5 : 7, 2)
    return [event({ ...head, choices: [text] }), event({ ...head, choices: [end], usage: used })]
  }),
  DONE,
]

async function start(behaviour: Behaviour, options: object = {}, overrides: object = {}) {
  const upstream = await startFakeUpstream(behaviour)
  const models = upstreamModel(upstream.baseUrl, { engine: 'llama-server', ...options })
  const server = await startModelServer(models, overrides)
  const post = async (path: string, body: object) =>
    fetch(`${server.baseUrl}/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  return { ...server, upstream, models, post }
}

describe('the usage of several choices of llama-server', () => {
  it('is their sum in a whole answer, which is assembled from a stream', async () => {
    const { chat, upstream } = await start(stream(CHAT_EVENTS))
    const response = await chat({ ...REQUEST, n: 3 })
    expect(response.headers.get('content-type')).toContain('application/json')
    expect(await response.json()).toEqual({
      id: 'chatcmpl-up',
      object: 'chat.completion',
      created: 1,
      model: 'up',
      choices: [0, 1, 2].map((index) => ({
        index,
        message: { role: 'assistant', content: `a${index}` },
        logprobs: null,
        finish_reason: 'stop',
      })),
      usage: { ...usage(9, 33), prompt_tokens_details: { cached_tokens: 1 } },
    })
    expect(JSON.parse(upstream.requests[0]?.body ?? '')).toMatchObject({
      n: 3,
      stream: true,
      stream_options: { include_usage: true },
    })
  })

  it('is their sum in the one usage chunk of a stream', async () => {
    const { chat } = await start(stream(CHAT_EVENTS))
    const response = await chat({
      ...REQUEST,
      n: 3,
      stream: true,
      stream_options: { include_usage: true },
    })
    const chunks = eventsOf(await response.text())
      .slice(0, -1)
      .map((text) => JSON.parse(text))
    expect(chunks.filter(({ usage }) => usage)).toEqual([chunks.at(-1)])
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: usage(9, 33) })
  })

  it('counts each prompt of a legacy completion once, whole and streamed', async () => {
    const { post } = await start(stream(TEXT_EVENTS))
    const body = { model: 'org/relayed', prompt: ['a', 'b'], n: 2 }
    const whole = (await (await post('completions', body)).json()) as AnyAnswer
    expect(whole).toMatchObject({
      object: 'text_completion',
      usage: { completion_tokens: 8, prompt_tokens: 12 },
    })
    expect(whole.choices.map(({ text }) => text)).toEqual(['t0', 't1', 't2', 't3'])
    const streamed = await post('completions', { ...body, stream: true })
    const last = eventsOf(await streamed.text()).at(-2) ?? ''
    expect(JSON.parse(last).usage).toMatchObject({ completion_tokens: 8, prompt_tokens: 12 })
  })

  it('is charged to the key', async () => {
    const limits = { keyTokensPerMinute: 40 }
    const { chat } = await start(stream(CHAT_EVENTS), {}, limits)
    await (await chat({ ...REQUEST, n: 3 })).text()
    expect((await chat({ ...REQUEST, n: 3 })).status).toBe(429)
  })

  it('assembles tool calls and log-probabilities as a whole answer has them', async () => {
    const logprob = { id: 1, token: 'a', logprob: -1, bytes: [97], top_logprobs: [] }
    const call = (name: string | undefined, text: string) => ({
      tool_calls: [
        {
          index: 0,
          ...(name ? { id: 'c1', type: 'function' } : {}),
          function: { ...(name ? { name } : {}), arguments: text },
        },
      ],
    })
    const events = [0, 1].flatMap((at) => [
      event(chunk([{ ...choice(at, call('f', '')), logprobs: { content: [logprob] } }])),
      event(chunk([{ ...choice(at, call(undefined, '{}')), logprobs: { content: [logprob] } }])),
      event(chunk([choice(at, {}, 'tool_calls')])),
    ])
    const { chat } = await start(stream([...events, DONE]))
    const answer = (await (await chat({ ...REQUEST, n: 2 })).json()) as AnyAnswer
    const made = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }
    expect(answer.choices).toEqual(
      [0, 1].map((index) => ({
        index,
        message: { content: null, tool_calls: [made] },
        logprobs: { content: [logprob, logprob] },
        finish_reason: 'tool_calls',
      })),
    )
  })

  it('is an error if the stream breaks off', async () => {
    const { chat } = await start(stream(CHAT_EVENTS.slice(0, 4), 'cut'))
    expect((await chat({ ...REQUEST, n: 3 })).status).toBe(502)
  })
})

const failing = (status: number, message: string) =>
  json(status, { error: { code: status, message, type: 'server_error' } })

describe('a request that llama-server cannot serve', () => {
  it.each([
    [500, 'image input is not supported', 'chat/completions', { messages: MESSAGES }],
    [501, 'This server does not support embeddings.', 'embeddings', { input: 'x' }],
  ])('fails with the message of its %s, and the upstream stays in use', async (...given) => {
    const [status, message, path, body] = given
    const { post, models } = await start(failing(status, message))
    const response = await post(path, { model: 'org/relayed', ...body })
    expect(response.status).toBe(502)
    expect(await response.json()).toMatchObject({
      error: { message: `The upstream failed with status ${status}: ${message}` },
    })
    const [state] = models.findModel('org/relayed')?.backend.describeUpstreams?.() ?? []
    expect(state).toMatchObject({ failureCount: 0, restsMs: 0 })
  })

  it.each<[string, Behaviour, object]>([
    ['a 500 of another engine', failing(500, 'secret'), { engine: 'vllm' }],
    ['a 500 that is a page', json(500, '<html>secret</html>'), {}],
  ])('is told from %s, whose words are not passed', async (_name, behaviour, options) => {
    const { chat, models } = await start(behaviour, options)
    expect(await (await chat(REQUEST)).json()).toMatchObject({
      error: { message: 'The upstream failed with status 500.' },
    })
    const [state] = models.findModel('org/relayed')?.backend.describeUpstreams?.() ?? []
    expect(state?.failureCount).toBe(1)
  })
})

describe('a field of a legacy completion that the engine does not honour', () => {
  const ANSWER = json(200, { choices: [{ index: 0, text: 'x', finish_reason: 'stop' }] })
  const FIELDS = { echo: true, best_of: 2, logprobs: 1 }

  it.each(Object.entries(FIELDS))('is refused by name: %s', async (name, value) => {
    const { post, upstream } = await start(ANSWER)
    const response = await post('completions', { model: 'short', prompt: 'x', [name]: value })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: { code: 'unsupported_parameter', param: name },
    })
    expect(upstream.requests).toEqual([])
  })

  it('is dropped and named where the model allows it', async () => {
    const { post, upstream } = await start(ANSWER, { unsupported: 'drop' })
    const response = await post('completions', { model: 'short', prompt: 'x', ...FIELDS })
    expect(response.headers.get('x-weft-dropped-fields')).toBe('echo, best_of, logprobs')
    expect(JSON.parse(upstream.requests[0]?.body ?? '')).toEqual({
      model: 'org/relayed',
      prompt: 'x',
    })
  })

  it('is no such field with a value that asks for nothing', async () => {
    const { post } = await start(ANSWER)
    const idle = { echo: false, best_of: 1, logprobs: null }
    expect((await post('completions', { model: 'short', prompt: 'x', ...idle })).status).toBe(200)
  })
})
