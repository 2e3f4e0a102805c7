/** Chats under a guard that a test plays: what it refuses, redacts and annotates, and what happens where it fails. */
import { describe, expect, it } from 'vitest'
import type { GuardSettings } from '../../../src/inference/chat/guard/guard-callback.ts'
import { createModelRegistry, type ServedModel } from '../../../src/inference/models/registry.ts'
import { buildTestApp, type TestApp } from '../../support/build-test-app.ts'
import { type Behaviour, json, startFakeUpstream } from '../../support/fake-upstream.ts'
import { eventsOf, upstreamModel } from '../../support/model-server.ts'
import {
  createScriptedBackend,
  finish,
  HELLO,
  piece,
  prompt,
  scriptedModels,
} from '../../support/scripted-backend.ts'
import { HELLO_ANSWER, hello, USAGE } from '../../support/upstream-answers.ts'

const URL = '/v1/chat/completions'
const PROJECT = 'acme/demo'
const MESSAGES = [{ role: 'user', content: 'my card is 4242' }]

type Verdicts = Readonly<Partial<Record<'request' | 'response', object>>>

/** Responds with the verdict of the phase, or allows. */
function play(verdicts: Verdicts): Behaviour {
  return (response, request) => {
    const { phase } = JSON.parse(request.body) as { phase: 'request' | 'response' }
    return json(200, verdicts[phase] ?? { action: 'allow' })(response, request)
  }
}

const guardOf = (url: string, more: Partial<GuardSettings> = {}): GuardSettings => ({
  url,
  apiKey: 'secret',
  timeoutMs: 5_000,
  isOpen: false,
  phases: ['request', 'response'],
  ...more,
})

const AT_PROJECT = { headers: { 'Compat-Project': PROJECT } }

async function readCallOf(
  test: Pick<TestApp, 'post'>,
  { headers }: Awaited<ReturnType<TestApp['post']>>,
) {
  const id = String(headers['x-weft-call-id'])
  const read = () => test.post('/call/read', { project_id: PROJECT, id })
  await expect.poll(async () => (await read()).status).toBe(200)
  return (await read()).body.call
}

async function open(
  behaviour: Behaviour,
  more: Partial<GuardSettings> = {},
  script = HELLO,
  model: Partial<ServedModel> = {},
) {
  const service = await startFakeUpstream(behaviour)
  const guard = guardOf(service.baseUrl, more)
  const backend = createScriptedBackend(script)
  const capabilities = { tools: true, prioritySchedulingEnabled: false }
  const test = await buildTestApp(
    {},
    { models: scriptedModels({ backend, capabilities, guard, ...model }) },
  )
  const ask = (body: object = {}, url = URL) =>
    test.post(url, { messages: MESSAGES, ...body }, AT_PROJECT)
  const readCall = (response: Awaited<ReturnType<typeof ask>>) => readCallOf(test, response)
  const questions = () => service.requests.map(({ body }) => JSON.parse(body))
  return { test, ask, readCall, questions, service, backend, guard }
}

const CLEAN = [{ role: 'user', content: 'my card is [card]' }]
const choiceOf = (content: string) => ({
  index: 0,
  message: { role: 'assistant', content },
  finish_reason: 'stop',
})

describe('a model with a guard', () => {
  it('sees and gives numbers with all digits', async () => {
    const long = JSON.rawJSON('12345678901234567890')
    const annotations = { case: long }
    const redaction = { action: 'redact', messages: CLEAN, annotations }
    const { test, ask, service } = await open(
      play({ request: redaction, response: { action: 'allow', annotations } }),
    )
    const tool = { type: 'function', function: { name: 'f', parameters: { maximum: long } } }
    const response = await ask({ tools: [tool] })
    expect(response.status, response.text).toBe(200)
    for (const { body } of service.requests) {
      expect(body).toContain('"maximum":12345678901234567890')
    }
    const id = String(response.headers['x-weft-call-id'])
    const read = () => test.post('/call/read', { project_id: PROJECT, id })
    await expect.poll(async () => (await read()).status).toBe(200)
    expect((await read()).text).toContain('"case":12345678901234567890')
  })

  it('asks it before and after a chat, with the token, and records what it notes', async () => {
    const annotations = { score: 0.5 }
    const { ask, questions, service, readCall } = await open(
      play({ request: { action: 'allow', annotations } }),
    )
    const response = await ask({ seed: 9_007_199_254_740_991 })
    expect(response.headers['x-weft-guard']).toBe('request=allow, response=allow')
    expect(questions()).toMatchObject([
      { phase: 'request', model: 'scripted', project_id: PROJECT, request: { messages: MESSAGES } },
      { phase: 'response', response: { choices: [choiceOf('Hello')] } },
    ])
    expect(service.requests[0]?.headers.authorization).toBe('Bearer secret')
    expect((await readCall(response)).attributes.guard).toEqual({
      request: { action: 'allow', annotations },
      response: { action: 'allow' },
    })
  })

  it.each([true, false])(
    'refuses a request before the model has it (stream: %s)',
    async (stream) => {
      const refuse = { action: 'refuse', message: 'No cards, please.' }
      const { ask, backend } = await open(play({ request: refuse }))
      const { status, body } = await ask({ stream })
      expect([status, body.error.code, body.error.message]).toEqual([
        403,
        'guard_refused',
        'No cards, please.',
      ])
      expect(backend.calls).toEqual([])
    },
  )

  it.each([true, false])(
    'sends nothing of a refused response, whose tokens count (stream: %s)',
    async (stream) => {
      const { ask, readCall } = await open(play({ response: { action: 'refuse' } }))
      const refused = await ask({ stream })
      expect([refused.status, refused.text.includes('Hel')]).toEqual([403, false])
      const call = await readCall(refused)
      expect(JSON.stringify(call.output)).not.toContain('Hel')
      expect(call.summary.usage.scripted).toMatchObject({ prompt_tokens: 3, completion_tokens: 2 })
    },
  )

  it('sees a chat whose body begins with a byte order mark', async () => {
    const { test, questions } = await open(play({}))
    const response = await test.post(URL, `\uFEFF${JSON.stringify({ messages: MESSAGES })}`)
    expect(response.status).toBe(200)
    expect(questions()[0].request.messages).toEqual(MESSAGES)
  })

  it('counts the tokens of a response for which it gives no verdict', async () => {
    const fails: Behaviour = (response, request) =>
      json(JSON.parse(request.body).phase === 'request' ? 200 : 500, { action: 'allow' })(
        response,
        request,
      )
    const { ask, readCall } = await open(fails)
    const failed = await ask()
    expect([failed.status, failed.body.error.code]).toEqual([503, 'guard_unavailable'])
    const call = await readCall(failed)
    expect(call.summary.usage.scripted).toMatchObject({ prompt_tokens: 3, completion_tokens: 2 })
  })

  it('gives the model and the record only the redacted request', async () => {
    const { ask, backend, readCall } = await open(
      play({ request: { action: 'redact', messages: CLEAN } }),
    )
    const response = await ask({ model: 'scripted' })
    expect(backend.calls[0]?.request.messages).toEqual(CLEAN)
    expect(backend.calls[0]?.body).not.toContain('4242')
    const call = await readCall(response)
    expect(call.inputs.messages).toEqual(CLEAN)
    expect(JSON.stringify(call)).not.toContain('4242')
  })

  it.each([
    ['whole', false],
    ['as a stream', true],
  ])('passes on the redacted response, %s, with the usage of the model', async (_, stream) => {
    const { ask, readCall } = await open(
      play({ response: { action: 'redact', choices: [choiceOf('[name]')] } }),
    )
    const response = await ask({ stream })
    const text = stream
      ? eventsOf(response.text)
          .filter((data) => data !== '[DONE]')
          .map((data) => JSON.parse(data).choices[0]?.delta.content ?? '')
          .join('')
      : response.body.choices[0].message.content
    expect(text).toBe('[name]')
    const call = await readCall(response)
    expect(call.output.choices[0].message.content).toBe('[name]')
    expect(call.summary.usage.scripted).toMatchObject({ completion_tokens: 2 })
  })

  it('checks responses and messages as the chats that they are', async () => {
    const { ask, questions } = await open(play({}))
    const body = { model: 'scripted', max_tokens: 5 }
    expect((await ask(body, '/v1/messages')).body.content).toEqual([
      { type: 'text', text: 'Hello' },
    ])
    expect(questions().map(({ phase }) => phase)).toEqual(['request', 'response'])
  })

  const FAILURES: readonly (readonly [string, Behaviour])[] = [
    ['responds with an error', json(500, {})],
    ['has no action', json(200, { verdict: 'ok' })],
    ['redacts without messages', json(200, { action: 'redact' })],
    ['redacts to what are no messages', json(200, { action: 'redact', messages: [{ role: 7 }] })],
    ['redirects', (response) => void response.writeHead(307, { location: '/else' }).end()],
    ['is too slow', () => undefined],
  ]
  it.each(FAILURES)('that %s fails the chat if closed, and not if open', async (_, behaviour) => {
    const settings = { phases: ['request'], timeoutMs: 100 } as const
    const closed = await open(behaviour, settings)
    const refused = await closed.ask()
    expect([refused.status, refused.body.error.code]).toEqual([503, 'guard_unavailable'])
    expect(closed.backend.calls).toEqual([])
    const opened = await open(behaviour, { ...settings, isOpen: true })
    expect((await opened.ask()).body.choices[0].message.content).toBe('Hello')
  })

  it.each(['refuse', 'redact'])('keeps the cost that a proxy reports (%s)', async (action) => {
    const service = await startFakeUpstream(
      play({ response: { action, choices: [choiceOf('[name]')] } }),
    )
    const cost = { 'x-litellm-response-cost': '3.45e-05' }
    const engine = await startFakeUpstream(json(200, HELLO_ANSWER, cost))
    const relayed = upstreamModel(engine.baseUrl).getModel('org/relayed')
    const guard = guardOf(service.baseUrl, { phases: ['response'] })
    const model = { ...relayed, guard }
    const test = await buildTestApp({}, { models: createModelRegistry([model], model) })
    const response = await test.post(URL, { messages: MESSAGES }, AT_PROJECT)
    const { summary } = await readCallOf(test, response)
    expect(summary.usage['org/relayed']).toEqual({ ...USAGE, response_cost: '3.45e-05' })
    await relayed.backend.close()
  })

  it.each([
    ['a redacted request', 'redact', json(200, { action: 'redact', messages: CLEAN })],
    ['an unchecked request', 'failed', json(500, {})],
    ['an invalid redaction', 'failed', json(200, { action: 'redact', messages: [{ role: 7 }] })],
  ])('keeps the response to %s out of the cache', async (_, action, behaviour) => {
    const perText: Behaviour = (response, request) =>
      (request.body.includes('4242') ? behaviour : play({}))(response, request)
    const cache = { ttlS: 60, isAutomatic: true, revision: 'r' }
    const { ask } = await open(perText, { phases: ['request'], isOpen: true }, HELLO, { cache })
    expect((await ask()).status).toBe(200)
    const allowed = { messages: [{ role: 'user', content: 'hi' }] }
    await expect.poll(async () => (await ask(allowed)).headers['x-weft-cache']).toBe('hit')
    const again = await ask()
    expect(again.headers['x-weft-cache']).toBe('miss')
    expect(again.headers['x-weft-guard']).toBe(`request=${action}`)
  })

  it('redacts a stream of an engine', async () => {
    const service = await startFakeUpstream(
      play({ response: { action: 'redact', choices: [choiceOf('[name]')] } }),
    )
    const engine = await startFakeUpstream(hello)
    const relayed = upstreamModel(engine.baseUrl).getModel('org/relayed')
    const guard = guardOf(service.baseUrl, { phases: ['response'] })
    const model = { ...relayed, guard }
    const test = await buildTestApp({}, { models: createModelRegistry([model], model) })
    const { text } = await test.post(URL, { messages: MESSAGES, stream: true })
    expect(text).toContain('[name]')
    expect(text).not.toContain('Hel')
    await relayed.backend.close()
    const other = await test.post('/v1/embeddings', { model: 'org/relayed', input: 'a' })
    expect(other.body.error.code).toBe('capability_missing')
  })

  it('cuts a chat whose model breaks off as without it', async () => {
    const { ask } = await open(play({}), {}, [prompt(), piece('Hel'), finish({ index: 1 })])
    expect((await ask({ n: 2 })).status).toBe(500)
  })
})
