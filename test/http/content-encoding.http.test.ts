import { createHash } from 'node:crypto'
import {
  brotliCompressSync,
  constants,
  deflateSync,
  gunzipSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { authorizationFor, buildTestApp, type TestApp } from '../support/build-test-app.ts'
import { createModel, JOBS_URL, jobOf, TRAJECTORY } from '../training/preview-fixtures.ts'
import { claim, createJobs, upload } from '../training/worker-fixtures.ts'

const TAKEN = 'gzip, deflate, br, zstd'
const PACKERS = {
  gzip: gzipSync,
  'x-gzip': gzipSync,
  GZIP: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
}

/** By itself brotli packs as small as it can, which takes seconds for a bomb. */
const packFast = (bytes: Buffer) =>
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })

async function send({ app, key }: TestApp, url: string, payload: Buffer, encoding: string) {
  const response = await app.inject({
    method: 'POST',
    url,
    headers: {
      authorization: authorizationFor(url, key),
      'content-type': 'application/json',
      'content-encoding': encoding,
    },
    payload,
  })
  return { status: response.statusCode, body: response.json(), headers: response.headers }
}

const START = {
  project_id: 'acme/demo',
  id: 'c',
  op_name: 'answer',
  started_at: '2026-01-31T09:30:00Z',
  attributes: {},
  inputs: { question: 'Why? é' },
}

describe('a compressed body', () => {
  it.each(Object.entries(PACKERS))(
    'a body of %s is accepted, and not taken for invalid JSON',
    async (encoding, pack) => {
      const test = await buildTestApp()
      const started = await send(
        test,
        '/call/start',
        pack(JSON.stringify({ start: START })),
        encoding,
      )
      expect([started.status, started.body.id]).toEqual([200, 'c'])
      const { body } = await test.post('/call/read', { project_id: START.project_id, id: 'c' })
      expect(body.call.inputs).toEqual(START.inputs)
    },
  )

  it('a compressed body is accepted by the routes for SDKs, of chat and of training jobs, small and large', async () => {
    const test = await buildTestApp()
    const model_id = await createModel(test)
    const chat = { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 1 }
    const large = { ...TRAJECTORY, logs: Array(9_000).fill('x'.repeat(60)) }
    for (const [url, value] of [
      ['/traces/call/upsert_batch', { batch: [] }],
      ['/v1/chat/completions', chat],
      [JOBS_URL, jobOf(model_id)],
      [JOBS_URL, jobOf(model_id, large)],
    ] as const) {
      const { status } = await send(test, url, gzipSync(JSON.stringify(value)), 'gzip')
      expect([url, status]).toEqual([url, 200])
    }
    const stored = await test.deps.trainingJobs.findJob((await claim(test)).id)
    expect(stored?.trajectory_count).toBe(1)
  })

  it('a compressed artifact is stored decompressed', async () => {
    const test = await buildTestApp()
    await createJobs(test, 1)
    const claimed = await claim(test)
    const bytes = 'weights'.repeat(1000)
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const packed = gzipSync(bytes)
    expect(gunzipSync(packed).toString()).toBe(bytes)
    const headers = { 'content-encoding': 'gzip', 'x-weft-sha256': sha256 }
    const { body } = await upload(test, claimed, packed, headers)
    expect(body).toEqual({ sha256, bytes: bytes.length })
  })

  it.each(['compress', 'gzip, gzip', 'gzip;q=1', ''])(
    'another content encoding gets 415 with the accepted ones: %j',
    async (encoding) => {
      const test = await buildTestApp()
      const { status, body, headers } = await send(test, '/call/start', Buffer.from('{}'), encoding)
      expect([status, body.error.code]).toEqual([415, 'unsupported_media_type'])
      expect(body.error.message).toContain(TAKEN)
      expect(headers['accept-encoding']).toBe(TAKEN)
    },
  )

  it('a compressed upload form gets 415', async () => {
    const { app, key } = await buildTestApp()
    const response = await app.inject({
      method: 'POST',
      url: '/file/create',
      headers: {
        authorization: authorizationFor('/', key),
        'content-type': 'multipart/form-data; boundary=b',
        'content-encoding': 'gzip',
      },
      payload: gzipSync('--b--'),
    })
    expect([response.statusCode, response.headers['accept-encoding']]).toEqual([415, 'identity'])
  })

  it.each([
    ['cut off', gzipSync('{"start":1}').subarray(0, 20)],
    ['no gzip at all', Buffer.from('{"start":1}')],
    ['broken', Buffer.concat([gzipSync('{"start":1}').subarray(0, 12), Buffer.alloc(20, 7)])],
    ['empty', Buffer.alloc(0)],
  ])('a compressed body that is %s gets 400', async (_name, payload) => {
    const test = await buildTestApp()
    const { status, body } = await send(test, '/call/start', payload, 'gzip')
    expect([status, body.error.type]).toEqual([400, 'invalid_request_error'])
  })

  it.each([
    ['gzip', gzipSync],
    ['br', packFast],
    ['zstd', zstdCompressSync],
  ] as const)(
    'a body that decompresses to more than the limit gets 413, on every kind of route: %s',
    async (encoding, pack) => {
      const test = await buildTestApp({ bodyBytesMax: 100_000, trainingBodyBytesMax: 100_000 })
      const bomb = pack(Buffer.alloc(50_000_000, ' '))
      expect(bomb.length).toBeLessThan(60_000)
      for (const url of ['/call/start', '/v1/chat/completions', JOBS_URL]) {
        const { status, body } = await send(test, url, bomb, encoding)
        expect([status, body.error.code]).toEqual([413, 'request_too_large'])
      }
    },
  )

  it('a body whose compressed bytes exceed the limit gets 413', async () => {
    const test = await buildTestApp({ bodyBytesMax: 1000 })
    const packed = gzipSync(Buffer.from(Array.from({ length: 4000 }, (_, at) => (at * 7919) % 251)))
    const { status } = await send(test, '/call/start', packed, 'gzip')
    expect(status).toBe(413)
  })
})

describe('the bytes of a JSON body', () => {
  const bad = Buffer.concat([
    Buffer.from('{"messages":"'),
    Buffer.from([0xff, 0xfe]),
    Buffer.from('"}'),
  ])

  it('a body that is not UTF-8 is refused and not stored as U+FFFD, on every kind of route', async () => {
    const test = await buildTestApp()
    const large = Buffer.concat([Buffer.alloc(300_000, ' '), bad])
    for (const url of ['/call/start', '/traces/call/start', '/v1/chat/completions', JOBS_URL]) {
      for (const body of [bad, large]) {
        const { status, body: response } = await send(test, url, body, 'identity')
        expect([url, status, response.error.code]).toEqual([url, 400, 'invalid_json'])
      }
    }
  })

  it('the last value of a repeated key wins', async () => {
    const test = await buildTestApp()
    const text = JSON.stringify({ start: START }).replace('"id":"c"', '"id":"first","id":"last"')
    const { body } = await send(test, '/call/start', Buffer.from(text), 'identity')
    expect(body.id).toBe('last')
  })

  it('-0 in the inputs is not read back as 0', async () => {
    const { post } = await buildTestApp()
    const inputs = '{"a":-0,"b":[-0.0, -0],"c":-0.5,"d":"-0","e":-0e1}'
    const start = JSON.stringify({ ...START, inputs: 'INPUTS' }).replace('"INPUTS"', inputs)
    expect((await post('/call/start', `{"start":${start}}`)).status).toBe(200)
    const { text } = await post('/call/read', { project_id: START.project_id, id: 'c' })
    expect(text).toContain('"inputs":{"a":-0,"b":[-0.0,-0],"c":-0.5,"d":"-0","e":-0e1}')
    const filter = { call_ids: ['c'] }
    const streamed = await post('/calls/stream_query', { project_id: START.project_id, filter })
    expect(streamed.text).toContain('"a":-0,"b":[-0.0,')
  })
})
