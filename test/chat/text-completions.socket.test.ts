import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import type { TextCompletionRequest } from '../../src/schemas/chat/services/text-completion.ts'
import { buildTestApp } from '../support/build-test-app.ts'
import {
  type Behaviour,
  DONE,
  event,
  json,
  startFakeUpstream,
  stream,
} from '../support/fake-upstream.ts'
import { startModelServer, upstreamModel } from '../support/model-server.ts'
import type { RowsOf } from '../support/rows-of.ts'
import { createScriptedBackend, HELLO, scriptedModels } from '../support/scripted-backend.ts'

const USAGE = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
const chunkOf = (text: string, finish_reason: string | null = null) =>
  event(
    JSON.stringify({
      id: 'c',
      object: 'text_completion',
      choices: [{ index: 0, text, finish_reason }],
    }),
  )
const WHOLE = json(200, {
  id: 'c',
  object: 'text_completion',
  model: 'up',
  choices: [{ index: 0, text: ' world', finish_reason: 'stop', logprobs: null }],
  usage: USAGE,
})
const STREAM = stream([
  chunkOf(' wor'),
  chunkOf('ld', 'stop'),
  event(JSON.stringify({ id: 'c', object: 'text_completion', choices: [], usage: USAGE })),
  DONE,
])
const answer: Behaviour = (response, request) =>
  (JSON.parse(request.body).stream === true ? STREAM : WHOLE)(response, request)

async function startClient() {
  const upstream = await startFakeUpstream(answer)
  const server = await startModelServer(upstreamModel(upstream.baseUrl, { upstreamModel: 'up' }))
  const client = new OpenAI({ baseURL: server.baseUrl, apiKey: server.key, maxRetries: 0 })
  return { ...server, client, upstream }
}

const URL = '/v1/completions'
/** For every field, values that pass and one that is refused. */
const ROWS: RowsOf<TextCompletionRequest> = {
  prompt: [['a', ['a', 'b'], [1, 2], [[1], [2, 3]]], []],
  model: [['short', null], 5],
  suffix: [[null], 'x'],
  echo: [[true], 1],
  logprobs: [[0, 5], -1],
  best_of: [[2], 0],
  n: [[2], 0],
  max_tokens: [[0, 5], -1],
  temperature: [[0.5], 9],
  frequency_penalty: [[0.5], 9],
  presence_penalty: [[0.5], 9],
  logit_bias: [[{ 5: 1 }], { a: 1 }],
  seed: [[5], 'five'],
  stop: [['a', ['a']], 5],
  top_p: [[0.5], 9],
  stream: [[false], 'yes'],
  stream_options: [[null], 5],
  user: [['u'], 5],
}

describe('POST /v1/completions', () => {
  it('the openai package gets its text completion, whole and streamed', async () => {
    const { client, upstream } = await startClient()
    const asked = { model: 'short', prompt: ['hello'], echo: false, logprobs: 1, best_of: 2 }
    const whole = await client.completions.create(asked)
    expect([whole.choices[0]?.text, whole.usage]).toEqual([' world', USAGE])
    expect(upstream.requests[0]?.url).toBe('/v1/completions')
    expect(JSON.parse(upstream.requests[0]?.body ?? '')).toEqual({ ...asked, model: 'up' })
    let text = ''
    let chunks = 0
    for await (const chunk of await client.completions.create({ ...asked, stream: true })) {
      text += chunk.choices[0]?.text
      chunks += 1
    }
    expect([text, chunks]).toEqual([' world', 2])
  })

  it('a text completion is recorded as a call of its project with the usage, also of a stream', async () => {
    const { post } = await startClient()
    const headers = { 'compat-project': 'acme/demo' }
    for (const isStream of [false, true]) {
      const body = { prompt: 'hello', stream: isStream }
      const { headers: told } = await post(URL, body, { headers })
      const id = String(told['x-weft-call-id'])
      const { call } = (await post('/call/read', { project_id: 'acme/demo', id })).body
      expect(call).toMatchObject({
        op_name: 'completions',
        inputs: body,
        summary: { usage: { 'org/relayed': USAGE } },
      })
      expect(JSON.stringify(call.output)).toContain(' world')
    }
  })

  it.each([
    [null, { include_usage: true }],
    [
      { n: 0, continuous_usage_stats: true },
      { include_usage: true, n: 0 },
    ],
    [
      { include_usage: true, continuous_usage_stats: true },
      { include_usage: true, continuous_usage_stats: true },
    ],
  ])(
    'usage of a text completion stream is requested with %j as for a chat',
    async (sent, asked) => {
      const { post, upstream } = await startClient()
      await post(URL, { prompt: 'hello', stream: true, stream_options: sent })
      expect(JSON.parse(upstream.requests[0]?.body ?? '').stream_options).toEqual(asked)
    },
  )

  it('a model without text completions is refused by name', async () => {
    const backend = createScriptedBackend(HELLO)
    const { post } = await buildTestApp({}, { models: scriptedModels({ backend }) })
    const { status, body } = await post(URL, { prompt: 'hi' })
    expect([status, body.error.param, body.error.code]).toEqual([
      404,
      'model',
      'capability_missing',
    ])
  })

  it.each(Object.entries(ROWS))('a text completion checks %s', async (name, [passing, refused]) => {
    const { post } = await startClient()
    for (const value of passing) {
      expect((await post(URL, { prompt: 'hi', [name]: value })).status).toBe(200)
    }
    const { status, body } = await post(URL, { prompt: 'hi', [name]: refused })
    expect([status, body.error.param]).toEqual([400, name])
  })
})
