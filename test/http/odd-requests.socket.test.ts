import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { buildTestApp } from '../support/build-test-app.ts'
import { startModelServer } from '../support/model-server.ts'
import { createRawClient } from '../support/raw-client.ts'
import {
  createScriptedBackend,
  NEVER,
  piece,
  prompt,
  scriptedModels,
} from '../support/scripted-backend.ts'

async function ask(head: string) {
  const { app } = await buildTestApp()
  await app.listen({ port: 0, host: '127.0.0.1' })
  const client = createRawClient((app.server.address() as AddressInfo).port)
  onTestFinished(client.close)
  client.write(`${head}\r\n\r\n`)
  const { status, headers, body } = await client.read()
  expect(headers['x-content-type-options']).toBe('nosniff')
  return { refusal: [status, body.error.code], headers, text: JSON.stringify(body) }
}

const HOST = '\r\nhost: x'

describe('the response to an odd request has the error body, neither status 500 nor an empty body', () => {
  it.each([
    ['QUERY of a GET route', `QUERY /health HTTP/1.1${HOST}`, 405, 'method_not_allowed', 'GET'],
    [
      'QUERY with a body',
      `QUERY /call/read HTTP/1.1${HOST}\r\ncontent-type: a/b\r\ncontent-length: 0`,
      405,
      'method_not_allowed',
      'POST',
    ],
    ['QUERY of no route', `QUERY /none HTTP/1.1${HOST}`, 404, 'unknown_url', undefined],
    [
      'CONNECT',
      `CONNECT example.org:443 HTTP/1.1${HOST}`,
      405,
      'method_not_allowed',
      'GET, POST, PUT, DELETE',
    ],
    ['PROPFIND', `PROPFIND /v1/models HTTP/1.1${HOST}`, 405, 'method_not_allowed', 'GET'],
    ['TRACE', `TRACE /health HTTP/1.1${HOST}`, 405, 'method_not_allowed', 'GET'],
    ['OPTIONS of all', `OPTIONS * HTTP/1.1${HOST}`, 404, 'unknown_url', undefined],
    [
      'dots out of a folder',
      `GET /docs/static/../../../package.json HTTP/1.1${HOST}`,
      404,
      'unknown_url',
      undefined,
    ],
    [
      'an escaped backslash',
      `GET /docs/static/..%5Cx HTTP/1.1${HOST}`,
      404,
      'unknown_url',
      undefined,
    ],
    ['an escaped NUL', `GET /docs/static/%00 HTTP/1.1${HOST}`, 404, 'unknown_url', undefined],
    [
      'a file that is not there',
      `GET /docs/static/no.js HTTP/1.1${HOST}`,
      404,
      'unknown_url',
      undefined,
    ],
    ['a bad escape', `GET /%zz HTTP/1.1${HOST}`, 404, 'unknown_url', undefined],
    ['no Host', 'GET /health HTTP/1.1', 400, 'invalid_http', undefined],
    [
      'an unknown Expect',
      `GET /health HTTP/1.1${HOST}\r\nexpect: tea`,
      417,
      'expectation_failed',
      undefined,
    ],
  ])('%s', async (_name, head, status, code, allow) => {
    const { refusal, headers, text } = await ask(head)
    expect(refusal).toEqual([status, code])
    expect(headers.allow).toBe(allow)
    expect(headers['content-type']).toBe('application/json; charset=utf-8')
    expect(text).not.toMatch(/node_modules|\.ts|\.js:/)
  })

  it('HTTP/1.0 needs no Host', async () => {
    const { refusal } = await ask('GET /none HTTP/1.0')
    expect(refusal).toEqual([404, 'unknown_url'])
  })
})

// By default Node checks for such requests every 30 s.
it.each([
  ['headers', `POST /call/start HTTP/1.1${HOST}\r\n`],
  [
    'body',
    `POST /v1/traces HTTP/1.1${HOST}\r\nauthorization: Bearer KEY\r\n` +
      'content-type: application/json\r\ncontent-length: 9\r\n\r\n{',
  ],
])(
  'a request that stops in its %s is refused soon after its time',
  {
    timeout: 20_000,
  },
  async (_part, begun) => {
    const { app, key } = await buildTestApp({ requestTimeoutMs: 100 })
    await app.listen({ port: 0, host: '127.0.0.1' })
    const client = createRawClient((app.server.address() as AddressInfo).port)
    onTestFinished(client.close)
    client.write(begun.replace('KEY', key))
    const { status, body } = await client.read()
    expect([status, body.error.code]).toEqual([408, 'request_timeout'])
  },
)

it.each([
  ['bytes that are not HTTP', 'nonsense', 'invalid_http', '4xx'],
  ['a tunnel', `CONNECT example.org:443 HTTP/1.1${HOST}`, 'method_not_allowed', '4xx'],
])('counts %s', async (_name, head, code, status) => {
  const { app, get, key } = await buildTestApp()
  await app.listen({ port: 0, host: '127.0.0.1' })
  const client = createRawClient((app.server.address() as AddressInfo).port)
  onTestFinished(client.close)
  client.write(`${head}\r\n\r\n`)
  await client.read()
  const { text } = await get('/metrics', { headers: { authorization: `Bearer ${key}` } })
  expect(text).toContain(`weft_refusals_total{code="${code}"} 1\n`)
  expect(text).toContain(
    `weft_http_request_duration_seconds_count{route="unknown",method="other",status="${status}"} 1\n`,
  )
})

it.each([
  ['stops', 'content-length: 9\r\n\r\n{', 'request_timeout'],
  ['is broken', 'transfer-encoding: chunked\r\n\r\nnonsense\r\n', 'invalid_http'],
])(
  'a request whose body %s is counted once, by its route',
  { timeout: 20_000 },
  async (_name, rest, code) => {
    const { app, get, key } = await buildTestApp({ requestTimeoutMs: 100 })
    await app.listen({ port: 0, host: '127.0.0.1' })
    const client = createRawClient((app.server.address() as AddressInfo).port)
    onTestFinished(client.close)
    const head = `POST /v1/chat/completions HTTP/1.1${HOST}\r\nauthorization: Bearer ${key}`
    client.write(`${head}\r\ncontent-type: application/json\r\n${rest}`)
    await client.read()
    const read = async () => {
      const { text } = await get('/metrics', { headers: { authorization: `Bearer ${key}` } })
      return text.match(
        /^weft_(?:http_request_duration_seconds_count|refusals_total)\{(?!.*"\/metrics").*$/gm,
      )
    }
    const route = 'route="/v1/chat/completions",method="POST",status="4xx"'
    await expect
      .poll(read)
      .toEqual([
        `weft_http_request_duration_seconds_count{${route}} 1`,
        `weft_refusals_total{code="${code}"} 1`,
      ])
  },
)

it('bytes that are not HTTP end a stream, and put nothing into it', async () => {
  const backend = createScriptedBackend([prompt(), piece('begun'), NEVER])
  const { baseUrl, key } = await startModelServer(scriptedModels({ backend }))
  const socket = connect(Number(new URL(baseUrl).port), '127.0.0.1').setEncoding('utf8')
  onTestFinished(() => void socket.destroy())
  let text = ''
  socket.on('data', (chunk: string) => {
    text += chunk
    if (text.includes('begun')) socket.write('nonsense\r\n\r\n')
  })
  const body = JSON.stringify({ messages: [{ role: 'user', content: 'hi' }], stream: true })
  socket.write(
    `POST /v1/chat/completions HTTP/1.1${HOST}\r\nauthorization: Bearer ${key}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
  await once(socket, 'close')
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200'])
  expect(await backend.aborted).toMatchObject({ code: 'client_closed_request' })
})
