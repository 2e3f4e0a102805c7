import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  type Behaviour,
  event,
  HELLO_EVENTS,
  json,
  startFakeUpstream,
  stream,
  type UpstreamRequest,
} from '../../support/fake-upstream.ts'
import { spawnServer, TEST_KEY } from '../../support/spawn-server.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

const PROJECT = 'acme/demo'
const KEY = 'sk-upstream-0123456789abcdef'
const NEW_KEY = 'sk-rotated-9876543210fedcba'
const QUERY_KEY = 'query-key-0123456789'
/** Contained in every text of the upstream that is passed on. */
const MARK = 'zebra'
const INPUT = { messages: [{ role: 'user', content: 'hi' }], input: 'hi' }

const keyOf = ({ headers }: UpstreamRequest) =>
  String(headers.authorization).slice('Bearer '.length)
const flat: Behaviour = (response, request) => {
  const error = `${MARK}: Incorrect API key provided: ${keyOf(request)}`
  return json(400, { code: 'invalid_request', error })(response, request)
}
const nested: Behaviour = (response, request) => {
  const key = keyOf(request)
  const message = `${MARK}: bad header Authorization: Bearer ${key} of ${request.url}`
  const error = { message, param: `${MARK} Bearer ${key}`, code: key }
  return json(400, { error })(response, request)
}
const late: Behaviour = (response, request) => {
  const message = `${MARK}: bad token Bearer ${keyOf(request)}`
  const error = { message, type: 'invalid_request_error', code: 400 }
  return stream([HELLO_EVENTS[0] ?? '', event({ error })])(response, request)
}
const speechEvents: Behaviour = (response, request) => {
  const error = { message: `${MARK}: bad token Bearer ${keyOf(request)}` }
  const audio = event({ type: 'speech.audio.delta', audio: 'QUJD' })
  const [head, tail] = event({ type: 'error', error }).split('-upstream-')
  const cut = tail === undefined ? [head ?? ''] : [`${head}-upstream-`, tail]
  return stream([audio, ...cut])(response, request)
}
const RESPONSE = { id: 'r', object: 'response', created_at: 1, model: 'up', output: [] }
const failedResponse: Behaviour = (response, request) => {
  const error = { code: 'server_error', message: `${MARK}: bad ${keyOf(request)}` }
  const events = [
    { type: 'response.created', response: { ...RESPONSE, status: 'in_progress' } },
    { type: 'response.failed', response: { ...RESPONSE, status: 'failed', error } },
  ]
  return stream(events.map(event))(response, request)
}

async function start() {
  const upstream = await startFakeUpstream()
  const dir = makeTempDir()
  const path = join(dir, 'models.json')
  const write = (variable: string, more: string[] = []) => {
    const base_url = `${upstream.baseUrl}?api-key=${QUERY_KEY}`
    const common = { backend: 'openai', base_url, api_key_env: variable }
    const engine = { ...common, id: 'engine', capabilities: ['chat', 'responses'] }
    const voice = { ...common, id: 'voice', capabilities: ['speech'] }
    const models = [
      { ...common, id: 'up' },
      engine,
      voice,
      ...more.map((id) => ({ ...common, id })),
    ]
    writeFileSync(path, JSON.stringify({ models }))
  }
  write('UP_KEY')
  const server = await spawnServer({
    WEFT_DATA_DIR: dir,
    WEFT_MODELS_FILE: path,
    UP_KEY: KEY,
    UP_NEW_KEY: NEW_KEY,
  })
  const fetchText = async (url: string, body?: object) => {
    const response = await fetch(`${server.url}${url}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: url.startsWith('/v1')
          ? `Bearer ${TEST_KEY}`
          : `Basic ${Buffer.from(`api:${TEST_KEY}`).toString('base64')}`,
        'content-type': 'application/json',
        ...(body === undefined ? {} : { 'Compat-Project': PROJECT }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { text: await response.text(), headers: response.headers }
  }
  /** Everything that a client, a reader of its call and a stored response get. */
  async function ask(behaviour: Behaviour, url: string, body: object) {
    upstream.behave(behaviour)
    const { text, headers } = await fetchText(url, { model: 'up', ...INPUT, ...body })
    const read = { project_id: PROJECT, id: headers.get('x-weft-call-id') }
    await expect.poll(async () => (await fetchText('/call/read', read)).text).toContain(MARK)
    const call = (await fetchText('/call/read', read)).text
    const id = /resp_\w+/.exec(text)?.[0]
    const stored = id === undefined ? '' : (await fetchText(`/v1/responses/${id}`)).text
    return { text, call, stored }
  }
  return { ask, fetchText, write, server }
}

/** Requests whose failures repeat the key. */
const ASKED: [string, Behaviour, string, object][] = [
  ['an old error body', flat, '/v1/chat/completions', {}],
  ['message and param', nested, '/v1/chat/completions', {}],
  ['an error of embeddings', nested, '/v1/embeddings', {}],
  ['an error before a stream', nested, '/v1/chat/completions', { stream: true }],
  ['an error in a stream', late, '/v1/chat/completions', { stream: true }],
  ['an error in a stream of a response', late, '/v1/responses', { stream: true }],
  [
    'an error in a stream of speech',
    speechEvents,
    '/v1/audio/speech',
    { model: 'voice', voice: 'v' },
  ],
  ['an error of a response', nested, '/v1/responses', {}],
  ['a response that failed', failedResponse, '/v1/responses', { stream: true, model: 'engine' }],
]

describe('the key of an upstream that repeats it', () => {
  it('reaches no client, call, stored response or log; the log has no text of the upstream at all', async () => {
    const { ask, fetchText, write, server } = await start()
    const seen: Record<string, string[]> = {}
    async function askAll(round: string) {
      for (const [name, behaviour, url, body] of ASKED) {
        const fields =
          url === '/v1/chat/completions' ? { input: undefined } : { messages: undefined }
        const { text, call, stored } = await ask(behaviour, url, { ...body, ...fields })
        expect(text, name).toContain(MARK)
        if (url === '/v1/responses' && 'stream' in body) expect(stored, name).toContain(MARK)
        seen[`${round}: ${name}`] = [text, call, stored]
      }
    }
    await askAll('first')
    write('UP_NEW_KEY', ['another'])
    server.process.kill('SIGHUP')
    await expect.poll(async () => (await fetchText('/v1/models')).text).toContain('another')
    await askAll('rotated')

    const leaked = Object.entries(seen).filter(([, texts]) =>
      [KEY, NEW_KEY, QUERY_KEY].some((key) => texts.join().includes(key)),
    )
    expect(leaked).toEqual([])
    expect(seen['rotated: message and param']?.[0]).toContain(`"${MARK} Bearer [key]"`)
    await server.stop()
    const { stdout } = server.output()
    expect(stdout.match(/"stream failed"/g)).toHaveLength(4)
    expect(stdout.match(/"code":"[a-z_]+".*"request answered"/g)?.length).toBeGreaterThanOrEqual(8)
    for (const secret of [KEY, NEW_KEY, QUERY_KEY, MARK]) expect(stdout).not.toContain(secret)
  })
})
