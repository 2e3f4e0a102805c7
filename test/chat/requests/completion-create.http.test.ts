import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../src/errors.ts'
import { buildTestApp, type RequestOptions } from '../../support/build-test-app.ts'
import {
  createScriptedBackend,
  HELLO,
  piece,
  prompt,
  type Step,
  scriptedModels,
} from '../../support/scripted-backend.ts'

const PROJECT = 'acme/demo'
const MESSAGES = [{ role: 'user', content: 'hi' }]

async function buildApp(script: readonly Step[] = HELLO, config = {}) {
  const backend = createScriptedBackend(script)
  const test = await buildTestApp(config, { models: scriptedModels({ backend }) })
  const ask = (path: string, body: object, options?: RequestOptions) =>
    test.post(
      path,
      { project_id: PROJECT, inputs: { model: 'scripted', messages: MESSAGES }, ...body },
      options,
    )
  const complete = (body: object = {}, options?: RequestOptions) =>
    ask('/completions/create', body, options)
  const readCall = async (id: string) =>
    (await test.post('/call/read', { project_id: PROJECT, id })).body.call
  return { ...test, backend, ask, complete, readCall }
}

describe('a completion that a tracing SDK asks for', () => {
  it.each(['/completions/create', '/traces/completions/create'])(
    'is answered and recorded where it says: %s',
    async (path) => {
      const { ask, readCall } = await buildApp()
      const { status, body } = await ask(path, {
        trace_id: 'trace-1',
        parent_id: 'call-1',
        conversation_id: 'talk-1',
        conversation_name: 'A talk',
        source: 'playground',
      })
      expect(status).toBe(200)
      expect(body).toEqual({
        response: expect.objectContaining({ object: 'chat.completion', model: 'scripted' }),
        weave_call_id: expect.any(String),
        trace_id: 'trace-1',
        conversation_id: 'talk-1',
      })
      expect(body.response.choices[0].message.content).toBe('Hello')
      expect(await readCall(body.weave_call_id)).toMatchObject({
        op_name: 'chat.completions',
        trace_id: 'trace-1',
        parent_id: 'call-1',
        thread_id: 'talk-1',
        attributes: { model: 'scripted', conversation_name: 'A talk', source: 'playground' },
        inputs: { model: 'scripted', messages: MESSAGES },
        output: { choices: [{ message: { content: 'Hello' } }] },
        summary: { usage: { scripted: { total_tokens: 5 } } },
      })
    },
  )

  it('is a root of a new trace when it names none', async () => {
    const { complete, readCall } = await buildApp()
    const { body } = await complete()
    expect(await readCall(body.weave_call_id)).toMatchObject({
      trace_id: body.trace_id,
      parent_id: null,
      thread_id: null,
    })
  })

  it('keeps every digit of the values of a template, and of what it passes on', async () => {
    const { complete, post } = await buildApp()
    const long = JSON.rawJSON('12345678901234567890')
    const tool = { type: 'function', function: { name: 'f', parameters: { maximum: long } } }
    const { status, body, text } = await complete({
      inputs: {
        model: 'scripted',
        messages: [{ role: 'user', content: 'Order {id}' }],
        template_vars: { id: long },
        tools: [tool],
        temperature: JSON.rawJSON('0.50'),
      },
    })
    expect(status, text).toBe(200)
    const read = await post('/call/read', { project_id: PROJECT, id: body.weave_call_id })
    expect(read.text).toContain('"content":"Order 12345678901234567890"')
    expect(read.text).toContain('"maximum":12345678901234567890')
  })

  it('is not recorded when it is not to be tracked', async () => {
    const { complete, post } = await buildApp()
    const { body } = await complete({ track_llm_call: false })
    expect(body).toMatchObject({ weave_call_id: null, trace_id: null })
    const { text } = await post('/calls/stream_query', { project_id: PROJECT })
    expect(text).toBe('')
  })

  it('streams as lines; the first has the id of the recorded call', async () => {
    const { ask, readCall } = await buildApp()
    const { headers, text } = await ask('/traces/completions/create_stream', { trace_id: 't' })
    expect(headers['content-type']).toBe('application/jsonl; charset=utf-8')
    const [first, ...chunks] = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(first).toEqual({
      _meta: { weave_call_id: expect.any(String), trace_id: 't', conversation_id: null },
    })
    expect(chunks.map((chunk) => chunk.choices[0].delta.content ?? '').join('')).toBe('Hello')
    expect(chunks.at(-1).choices[0].finish_reason).toBe('stop')
    expect(await readCall(first._meta.weave_call_id)).toMatchObject({
      attributes: { stream: true },
      output: { choices: [{ message: { content: 'Hello' } }] },
    })
    const untracked = await ask('/completions/create_stream', { track_llm_call: false })
    expect(untracked.text).not.toContain('_meta')
    expect(untracked.text.split('\n').at(-1)).toBe('')
  })

  it('fails with its status before the first line, and with a line after it', async () => {
    const failure = new ApiError('upstream_error')
    const early = await buildApp([failure])
    const refused = await early.ask('/completions/create_stream', {})
    expect([refused.status, refused.body.error.code]).toEqual([502, 'upstream_error'])
    const late = await buildApp([prompt(), piece('Hel'), failure])
    const { status, text } = await late.ask('/completions/create_stream', {})
    expect(status).toBe(200)
    expect(JSON.parse(text.trimEnd().split('\n').at(-1) ?? '').error.code).toBe('upstream_error')
  })

  it('goes to the default model without a model, and says which that is', async () => {
    const { complete } = await buildApp()
    const { status, body } = await complete({ inputs: { messages: MESSAGES } })
    expect([status, body.response.model]).toEqual([200, 'scripted'])
  })

  it('sends what the chat knows and leaves null fields out', async () => {
    const { complete, backend, readCall } = await buildApp()
    const nothing = { timeout: null, extra_headers: null, tools: null, prompt: null, stream: true }
    const { body } = await complete({
      inputs: { model: 'scripted', messages: MESSAGES, temperature: 0.5, ...nothing },
      inference_route: null,
    })
    const sent = { model: 'scripted', messages: MESSAGES, temperature: 0.5, stream: false }
    expect(backend.calls.at(-1)?.request).toEqual(sent)
    expect((await readCall(body.weave_call_id)).inputs).toEqual(sent)
  })

  it.each([
    ['inputs.model', { inputs: { model: '', messages: MESSAGES } }],
    ['inputs.messages', { inputs: { model: 'scripted', messages: [] } }],
    ['inputs.messages[0].role', { inputs: { model: 'scripted', messages: [{ content: 'x' }] } }],
    ['inputs.temperature', { inputs: { model: 'scripted', messages: MESSAGES, temperature: 'x' } }],
    [
      'inputs.extra_headers',
      { inputs: { model: 'scripted', messages: MESSAGES, extra_headers: {} } },
    ],
    ['inputs.timeout', { inputs: { model: 'scripted', messages: MESSAGES, timeout: 5 } }],
    ['inputs.prompt', { inputs: { model: 'scripted', prompt: 'weave:///acme/demo/call/x' } }],
    ['inference_route', { inference_route: { base_url: 'http://x' } }],
  ])('is refused by name: %s', async (param, body) => {
    const { complete } = await buildApp()
    const { status, body: answer } = await complete(body)
    expect([status, answer.error.param]).toEqual([422, param])
  })

  it.each([
    ...['api_key', 'api_base', 'base_url', 'api_type', 'api_version'],
    ...['aws_access_key_id', 'aws_secret_access_key', 'aws_session_token', 'azure_ad_token'],
    ...['aws_bedrock_runtime_endpoint', 'azure_endpoint', 'vertex_credentials', 'organization'],
    ...['client_secret', 'token', 'headers', 'extra_headers', 'default_headers', 'extra_query'],
  ])('never takes the way to an upstream from a request: %s', async (name) => {
    const { ask, backend, post } = await buildApp()
    const inputs = { model: 'scripted', messages: MESSAGES, [name]: 'CLIENT-SECRET' }
    for (const root of ['', '/traces']) {
      for (const path of ['/completions/create', '/completions/create_stream']) {
        const { status, body, text } = await ask(root + path, { inputs })
        expect([status, body.error.param]).toEqual([422, `inputs.${name}`])
        expect(text).not.toContain('CLIENT-SECRET')
      }
    }
    expect(backend.calls).toEqual([])
    expect((await post('/calls/stream_query', { project_id: PROJECT })).text).toBe('')
    expect((await ask('/completions/create', { inputs: { ...inputs, [name]: null } })).status).toBe(
      200,
    )
    expect(backend.calls.at(-1)?.request).not.toHaveProperty(name)
  })

  it('is refused by the name below inputs where the model refuses it', async () => {
    const refusal = new ApiError('rate_limit_exceeded', { param: 'messages', retryAfterS: 7 })
    const { ask } = await buildApp([refusal])
    for (const path of ['/completions/create', '/completions/create_stream']) {
      const { status, headers, body } = await ask(path, {})
      expect([status, body.error.param, headers['retry-after']]).toEqual([
        ...[429, 'inputs.messages', '7'],
      ])
    }
    const inputs = { model: 'scripted', messages: MESSAGES, priority: 5 }
    const { status, body } = await ask('/completions/create', { inputs })
    expect([status, body.error.param]).toEqual([400, 'inputs.priority'])
    expect(body.error.message).toMatch(/^inputs\.priority must be 0/)
  })

  it('needs the scope inference and the project; unknown models and prompts are errors', async () => {
    const { complete, createKey } = await buildApp()
    const reader = await createKey({ scopes: ['traces:read', 'traces:write'] })
    expect((await complete({}, { key: reader })).body.error.code).toBe('scope_missing')
    const other = await createKey({ scopes: ['inference'], projects: ['other/*'] })
    expect((await complete({}, { key: other })).body.error.code).toBe('project_forbidden')
    expect((await complete({}, { key: null })).status).toBe(401)
    const prompted = { inputs: { model: 'scripted', prompt: 'weave:///acme/demo/object/p:v0' } }
    const asking = await createKey({ scopes: ['inference'] })
    expect((await complete(prompted, { key: asking })).body.error.code).toBe('scope_missing')
    expect((await complete(prompted)).body.error.code).toBe('object_not_found')
    const lost = await complete({ inputs: { model: 'nobody', messages: MESSAGES } })
    expect([lost.status, lost.body.error.code]).toEqual([404, 'model_not_found'])
  })

  it('is held to the limits of the key', async () => {
    const { complete } = await buildApp(HELLO, { keyRequestsPerMinute: 1 })
    expect((await complete()).status).toBe(200)
    expect((await complete()).body.error.code).toBe('rate_limit_exceeded')
  })
})

describe('a published prompt', () => {
  it('goes before the messages, filled in with the variables as all of them', async () => {
    const { complete, post, backend } = await buildApp()
    const content = 'You speak {language}. {{"json"}} {unknown} {toString}'
    const val = { _type: 'MessagesPrompt', messages: [{ role: 'system', content }] }
    const { body } = await post('/obj/create', {
      obj: { project_id: PROJECT, object_id: 'greet', val },
    })
    const parts = [{ type: 'text', text: 'For {count} people' }]
    await complete({
      inputs: {
        model: 'scripted',
        prompt: `weave:///${PROJECT}/object/greet:${body.digest}`,
        messages: [{ role: 'user', content: parts }],
        template_vars: { language: 'Low {count}', count: 3 },
      },
    })
    expect(backend.calls.at(-1)?.request.messages).toEqual([
      { role: 'system', content: 'You speak Low {count}. {"json"} {unknown} {toString}' },
      { role: 'user', content: [{ type: 'text', text: 'For 3 people' }] },
    ])
  })

  it('is named in the recorded call by the version that an alias led to, which finds the call', async () => {
    const { ask, post, put, backend, readCall } = await buildApp()
    const publish = async (content: string) => {
      const val = { _type: 'StringPrompt', content }
      const obj = { project_id: PROJECT, object_id: 'greet', val }
      return (await post('/obj/create', { obj })).body.digest as string
    }
    const digest = await publish('Hello {name}')
    const aliased = { project_id: PROJECT, digest, aliases: ['production'] }
    expect((await put('/objs/greet/aliases', aliased)).status).toBe(200)
    const prompt = `weave:///${PROJECT}/object/greet:production`
    const { text } = await ask('/completions/create_stream', {
      inputs: { model: 'scripted', prompt, template_vars: { name: 'Ada' } },
    })
    await publish('Good bye {name}')
    expect(backend.calls.at(-1)?.request).not.toHaveProperty('prompt')
    const ref = `weave:///${PROJECT}/object/greet:${digest}`
    const { weave_call_id: id } = JSON.parse(text.split('\n')[0] ?? '')._meta
    expect((await readCall(id)).inputs).toMatchObject({
      messages: [{ role: 'user', content: 'Hello Ada' }],
      prompt: ref,
    })
    const found = await post('/calls/stream_query', {
      project_id: PROJECT,
      filter: { input_refs: [ref] },
    })
    expect(JSON.parse(found.text).id).toBe(id)
  })

  it('of one text is a message of the user; without variables nothing is filled in', async () => {
    const { complete, post, backend } = await buildApp()
    const val = { _type: 'StringPrompt', content: 'Say {{this}}' }
    await post('/obj/create', { obj: { project_id: PROJECT, object_id: 'say', val } })
    const prompt = `weave:///${PROJECT}/object/say:latest`
    await complete({ inputs: { model: 'scripted', prompt } })
    expect(backend.calls.at(-1)?.request.messages).toEqual([
      { role: 'user', content: 'Say {{this}}' },
    ])
  })
})
