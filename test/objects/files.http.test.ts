import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import vectors from '../json/python-digests.json' with { type: 'json' }
import { itRefusesBadRequests } from '../support/bad-requests.ts'
import { basic, buildTestApp, type TestApp } from '../support/build-test-app.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { itRefusesBadFields, PROJECT, postForm } from './object-fixtures.ts'

const HELLO = 'LPJNulXwow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ'
const CREATE_URLS = ['/file/create', '/files/create', '/traces/file/create']

async function read({ app, key }: TestApp, digest: string, url = '/file/content') {
  const response = await app.inject({
    method: 'POST',
    url,
    payload: { project_id: PROJECT, digest },
    headers: { authorization: basic(key) },
  })
  return { status: response.statusCode, headers: response.headers, bytes: response.rawPayload }
}

async function totalBytes({ post }: TestApp) {
  return (await post('/files/query_stats', { project_id: PROJECT })).body.total_size_bytes
}

describe('POST /file/create', () => {
  it.each(CREATE_URLS)('answers at %s the digest that Python clients compute', async (url) => {
    const app = await buildTestApp()
    for (const { base64, digest } of vectors.files) {
      const file = Buffer.from(base64, 'base64')
      const { status, body } = await postForm(app, url, { project_id: PROJECT, file })
      expect([status, body]).toEqual([200, { digest }])
      expect((await read(app, digest)).bytes).toEqual(file)
    }
  })

  it.each([0, 65_536, 65_537, 1_000_000])('gives back %i bytes as they came', async (length) => {
    const app = await buildTestApp()
    const file = randomBytes(length)
    const { body } = await postForm(app, '/file/create', { project_id: PROJECT, file })
    for (const url of ['/file/content', '/files/content', '/traces/files/content']) {
      const { status, headers, bytes } = await read(app, body.digest, url)
      expect([status, headers['content-type']]).toEqual([200, 'application/octet-stream'])
      expect(headers['content-length']).toBe(String(length))
      expect(bytes.equals(file)).toBe(true)
    }
  })

  it('stores the same content once per project, and shows it to no other', async () => {
    const app = await buildTestApp()
    for (const file of ['hello', 'hello', 'x'.repeat(70_000), 'x'.repeat(70_000)]) {
      await postForm(app, '/file/create', { project_id: PROJECT, file })
    }
    expect(await totalBytes(app)).toBe(70_005)
    const foreign = { project_id: 'acme/other', digest: HELLO }
    const { status, body } = await app.post('/file/content', foreign)
    expect([status, body.error.code]).toEqual([404, 'file_not_found'])
  })

  it('takes the file before the fields', async () => {
    const app = await buildTestApp()
    const form = { project_id: PROJECT, file: 'hello', isFileFirst: true }
    expect((await postForm(app, '/file/create', form)).body).toEqual({ digest: HELLO })
  })

  it('takes the digest that the client expects', async () => {
    const app = await buildTestApp()
    const form = { project_id: PROJECT, file: 'hello', expected_digest: HELLO }
    expect((await postForm(app, '/file/create', form)).status).toBe(200)
  })

  it('ignores below /traces what it does not know', async () => {
    const app = await buildTestApp()
    const form = { project_id: PROJECT, file: 'hello', extra: '1' }
    expect((await postForm(app, '/traces/file/create', form)).status).toBe(200)
  })

  const LARGE = 'x'.repeat(100_000)
  it.each([
    [
      'another expected digest',
      409,
      'digest_mismatch',
      'expected_digest',
      { expected_digest: 'x' },
    ],
    ['no project', 422, 'validation_failed', 'project_id', { project_id: undefined }],
    ['a wrong project', 422, 'validation_failed', 'project_id', { project_id: 'acme' }],
    ['a foreign project', 403, 'project_forbidden', 'project_id', { project_id: 'other/demo' }],
    ['no file', 422, 'validation_failed', 'file', { file: undefined }],
    ['an unknown field', 422, 'validation_failed', 'extra', { extra: '1' }],
    ['a long field', 413, 'request_too_large', 'extra', { extra: LARGE }],
    [
      'too many fields',
      413,
      'request_too_large',
      null,
      Object.fromEntries([...'abcdefghij'].entries()),
    ],
    ['a field of a prototype', 400, 'invalid_multipart', null, { toString: '1' }],
  ])('refuses %s with %i %s and leaves nothing', async (_what, status, code, param, fields) => {
    const dataDir = makeTempDir()
    const app = await buildTestApp({ dataDir })
    const key = await app.createKey({ projects: ['acme/*'] })
    for (const file of ['hello', LARGE]) {
      const form = { project_id: PROJECT, file, ...fields } as never
      const entries = Object.entries(form).filter(([, value]) => value !== undefined)
      const answer = await postForm(app, '/file/create', Object.fromEntries(entries), { key })
      const { error } = answer.body
      expect([answer.status, error.code, error.param]).toEqual([status, code, param])
    }
    expect(await totalBytes(app)).toBe(0)
    expect(readdirSync(join(dataDir, 'files'))).toEqual(['received'])
    expect(readdirSync(join(dataDir, 'files', 'received'))).toEqual([])
  })

  it('refuses a file above the limit and leaves nothing', async () => {
    const dataDir = makeTempDir()
    const app = await buildTestApp({ dataDir, bodyBytesMax: 100_000 })
    for (const length of [100_001, 160_000, 200_000]) {
      const file = 'x'.repeat(length)
      const { status, body } = await postForm(app, '/file/create', { project_id: PROJECT, file })
      expect([status, body.error.code]).toEqual([413, 'request_too_large'])
    }
    const file = 'x'.repeat(100_000)
    expect((await postForm(app, '/file/create', { project_id: PROJECT, file })).status).toBe(200)
    expect(await totalBytes(app)).toBe(100_000)
    expect(readdirSync(join(dataDir, 'files', 'received'))).toEqual([])
  })

  it.each([
    ['application/json', '{}', 415, 'unsupported_media_type'],
    ['text/plain', 'x', 415, 'unsupported_media_type'],
    ['multipart/form-data', 'x', 400, 'invalid_multipart'],
    ['multipart/form-data; boundary=b', '--b\r\nnot a form', 400, 'invalid_multipart'],
    [
      'multipart/form-data; boundary=b',
      '--b\r\ncontent-disposition: form-data; name="file"; filename="f"\r\n\r\nhalf a file',
      400,
      'invalid_multipart',
    ],
    [
      'multipart/form-data; boundary=b',
      '--b\r\ncontent-disposition: form-data\r\n\r\nno name\r\n--b--\r\n',
      400,
      'invalid_multipart',
    ],
  ])('refuses %s %j', async (type, payload, status, code) => {
    const { app, key } = await buildTestApp()
    const headers = { 'content-type': type, authorization: basic(key) }
    const response = await app.inject({ method: 'POST', url: '/file/create', payload, headers })
    expect([response.statusCode, response.json().error.code]).toEqual([status, code])
  })

  it('asks for credentials and the scope', async () => {
    const app = await buildTestApp()
    const form = { project_id: PROJECT, file: 'hello' }
    const reader = await app.createKey({ scopes: ['traces:read'] })
    expect((await postForm(app, '/file/create', form, { key: reader })).body.error.code).toBe(
      'scope_missing',
    )
    expect((await postForm(app, '/file/create', form, { key: 'wk_no' })).body.error.code).toBe(
      'invalid_api_key',
    )
    expect(await totalBytes(app)).toBe(0)
  })

  it('keeps forms away from all other routes', async () => {
    const app = await buildTestApp()
    for (const url of ['/obj/create', '/file/content', '/call/start']) {
      const { status, body } = await postForm(app, url, { project_id: PROJECT, file: 'hello' })
      expect([status, body.error.code]).toEqual([415, 'unsupported_media_type'])
    }
  })

  it('keeps large files in the folder and small ones out of it', async () => {
    const dataDir = makeTempDir()
    const app = await buildTestApp({ dataDir })
    await postForm(app, '/file/create', { project_id: PROJECT, file: 'hello' })
    expect(readdirSync(join(dataDir, 'files'))).toEqual(['received'])
    await postForm(app, '/file/create', { project_id: PROJECT, file: 'x'.repeat(70_000) })
    expect(readdirSync(join(dataDir, 'files'))).toHaveLength(2)
    expect(existsSync(join(dataDir, 'files', 'received'))).toBe(true)
  })
})

describe('POST /file/content', () => {
  it('responds with file_not_found for an unknown digest', async () => {
    const { post } = await buildTestApp()
    const { status, body } = await post('/file/content', { project_id: PROJECT, digest: 'abc' })
    expect([status, body.error.code, body.error.param]).toEqual([404, 'file_not_found', 'digest'])
  })

  it('responds with project_forbidden for a key of another project', async () => {
    const app = await buildTestApp()
    const key = await app.createKey({ projects: ['other/*'] })
    for (const url of ['/file/content', '/files/query_stats']) {
      const request = url === '/file/content' ? { digest: HELLO } : {}
      const { body } = await app.post(url, { project_id: PROJECT, ...request }, { key })
      expect(body.error.code).toBe('project_forbidden')
    }
  })

  itRefusesBadFields('/file/content', { project_id: PROJECT, digest: HELLO }, [
    ['project_id', { project_id: undefined }],
    ['project_id', { project_id: 7 }],
    ['digest', { digest: undefined }],
    ['digest', { digest: null }],
    ['digest', { digest: '../../weft.db' }],
    ['extra', { extra: 1 }],
  ])

  itRefusesBadRequests({
    url: '/file/content',
    body: { project_id: PROJECT, digest: HELLO },
    scope: 'traces:read',
  })
})

describe('POST /files/query_stats', () => {
  itRefusesBadFields('/files/query_stats', {}, [
    ['project_id', {}],
    ['extra', { project_id: PROJECT, extra: 1 }],
  ])

  itRefusesBadRequests({
    url: '/files/query_stats',
    body: { project_id: PROJECT },
    scope: 'traces:read',
  })
})
