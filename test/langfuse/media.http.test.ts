import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { basic } from '../support/build-test-app.ts'
import { BASE, openLangfuse, project } from './langfuse-spans.ts'

const PICTURE = Buffer.from('\x89PNG some bytes \0\xff', 'latin1')

function announcementOf(bytes: Buffer, more: object = {}) {
  const sha256Hash = createHash('sha256').update(bytes).digest('base64')
  const mediaId = sha256Hash.slice(0, 22).replaceAll('+', '-').replaceAll('/', '_')
  const context = { traceId: 't', field: 'input' }
  const request = { ...context, contentType: 'image/png', contentLength: bytes.length, sha256Hash }
  return { mediaId, request: { ...request, ...more } }
}

const pathOf = (url: string) => new URL(url).pathname

async function openMedia() {
  const langfuse = await openLangfuse()
  const { app, post, get, langfuse: asked } = langfuse
  return {
    ...langfuse,
    announce: (bytes: Buffer, more: object = {}) =>
      post(`${BASE}/media`, announcementOf(bytes, more).request, asked),
    upload: (url: string, payload: Buffer, type = 'image/png') =>
      app.inject({ method: 'PUT', url: pathOf(url), headers: { 'content-type': type }, payload }),
    read: (mediaId: string) => get(`${BASE}/media/${mediaId}`, asked),
    download: (url: string, headers: Record<string, string> = {}) =>
      app.inject({ method: 'GET', url: pathOf(url), headers }),
  }
}

describe('media of Langfuse’s SDKs', () => {
  it('are uploaded and downloaded at addresses that need no key, and once per project', async () => {
    const { announce, upload, read, download, patch, langfuse } = await openMedia()
    const { mediaId } = announcementOf(PICTURE)
    const announced = await announce(PICTURE)
    expect(announced.body.mediaId).toBe(mediaId)
    const uploaded = await upload(announced.body.uploadUrl, PICTURE)
    expect({ status: uploaded.statusCode, text: uploaded.body }).toEqual({ status: 200, text: '' })
    const report = {
      uploadedAt: '2026-01-31T09:00:00Z',
      uploadHttpStatus: 200,
      uploadHttpError: '',
    }
    expect((await patch(`${BASE}/media/${mediaId}`, report, langfuse)).status).toBe(200)

    expect((await announce(PICTURE)).body).toEqual({ mediaId, uploadUrl: null })
    const { body } = await read(mediaId)
    expect(body).toMatchObject({ mediaId, contentType: 'image/png', contentLength: PICTURE.length })
    for (let time = 0; time < 2; time++) {
      const { rawPayload, headers } = await download(body.url)
      expect(rawPayload).toEqual(PICTURE)
      expect(headers).toMatchObject({
        'content-type': 'application/octet-stream',
        'content-disposition': 'attachment',
        'x-content-type-options': 'nosniff',
      })
    }
  })

  it('are downloaded by ranges, as players seek', async () => {
    const { app, announce, upload, read, download } = await openMedia()
    const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, at) => at % 251))
    await upload((await announce(bytes)).body.uploadUrl, bytes)
    const { url } = (await read(announcementOf(bytes).mediaId)).body
    const whole = await download(url)
    const etag = String(whole.headers.etag)
    expect(whole.headers).toMatchObject({ 'accept-ranges': 'bytes', 'content-length': '100000' })

    const part = await download(url, { range: 'bytes=70000-70009', 'if-range': etag })
    expect([part.statusCode, part.rawPayload]).toEqual([206, bytes.subarray(70_000, 70_010)])
    const described = { 'content-range': 'bytes 70000-70009/100000', 'content-length': '10', etag }
    expect(part.headers).toMatchObject(described)
    const last = await download(url, { range: 'bytes=-5' })
    expect([last.statusCode, last.rawPayload]).toEqual([206, bytes.subarray(-5)])

    const behind = await download(url, { range: 'bytes=100000-' })
    expect([behind.statusCode, behind.headers['content-range']]).toEqual([416, 'bytes */100000'])
    expect(behind.json().error.code).toBe('range_not_satisfiable')
    const other = await download(url, { range: 'bytes=0-9', 'if-range': '"other"' })
    expect([other.statusCode, other.rawPayload.length]).toEqual([200, bytes.length])
    const head = await app.inject({
      method: 'HEAD',
      url: pathOf(url),
      headers: { range: 'bytes=0-9' },
    })
    expect([head.statusCode, head.headers['content-length']]).toEqual([200, '100000'])
  })

  it('of any media type are bytes to the upload, also JSON', async () => {
    const { announce, upload, read } = await openMedia()
    const bytes = Buffer.from('{"a":1.0}')
    const { body } = await announce(bytes, { contentType: 'application/json' })
    expect((await upload(body.uploadUrl, bytes, 'application/json')).statusCode).toBe(200)
    expect((await read(body.mediaId)).body).toMatchObject({ contentType: 'application/json' })
  })

  it.each([
    ['other bytes', Buffer.from(PICTURE).fill('x'), 409, 'digest_mismatch'],
    ['fewer bytes', PICTURE.subarray(1), 409, 'digest_mismatch'],
    ['more bytes', Buffer.concat([PICTURE, PICTURE]), 413, 'request_too_large'],
  ])('with %s than announced are refused, and the address can be used again', async (...given) => {
    const [, bytes, , code] = given
    const { announce, upload, read } = await openMedia()
    const { body } = await announce(PICTURE)
    expect((await upload(body.uploadUrl, bytes)).json().error.code).toBe(code)
    expect((await read(body.mediaId)).status).toBe(404)
    expect((await upload(body.uploadUrl, PICTURE)).statusCode).toBe(200)
  })

  it('are refused at an address that is used, of another kind, made up, over or of a revoked key', async () => {
    const { announce, upload, read, download, post, deps, createKey } = await openMedia()
    const { body } = await announce(PICTURE)
    expect((await download(body.uploadUrl.replace('uploads', 'downloads'))).statusCode).toBe(404)
    expect((await upload(`${body.uploadUrl}x`, PICTURE)).statusCode).toBe(404)
    await upload(body.uploadUrl, PICTURE)
    expect((await upload(body.uploadUrl, PICTURE)).json().error.code).toBe('export_not_found')
    const { url } = (await read(body.mediaId)).body
    expect((await upload(url.replace('downloads', 'uploads'), PICTURE)).statusCode).toBe(404)

    const key = await createKey({ projects: [project] })
    const own = { key: null, headers: { authorization: basic(key, project) } }
    const other = Buffer.from('other')
    const announced = await post(`${BASE}/media`, announcementOf(other).request, own)
    const stored = (await deps.keys.listKeys()).at(-1)
    await deps.keys.revokeKey(stored?.id ?? '')
    expect((await upload(announced.body.uploadUrl, other)).statusCode).toBe(404)
  })

  it('have no address that an export accepts', async () => {
    const { announce, upload, get } = await openMedia()
    const { body } = await announce(PICTURE)
    const token = pathOf(body.uploadUrl).split('/').at(-1)
    const exported = await get(`/calls/exports/${token}`, { key: null })
    expect({ status: exported.status, code: exported.body.error.code }).toEqual({
      status: 404,
      code: 'export_not_found',
    })
    expect((await upload(body.uploadUrl, PICTURE)).statusCode).toBe(200)
  })

  it('are of one project', async () => {
    const { announce, upload, post, get, createKey } = await openMedia()
    const { body } = await announce(PICTURE)
    await upload(body.uploadUrl, PICTURE)
    const headers = { authorization: basic(await createKey({ projects: ['acme/other'] })) }
    const asked = { key: null, headers }
    expect((await get(`${BASE}/media/${body.mediaId}`, asked)).status).toBe(404)
    const again = await post(`${BASE}/media`, announcementOf(PICTURE).request, asked)
    expect(again.body.uploadUrl).toEqual(expect.any(String))
  })

  it('have addresses with the scheme of the proxy and the host of the client', async () => {
    const { post, langfuse } = await openLangfuse()
    const headers = { ...langfuse.headers, 'x-forwarded-proto': 'https', host: 'weft.example.com' }
    const { body } = await post(`${BASE}/media`, announcementOf(PICTURE).request, {
      ...langfuse,
      headers,
    })
    expect(body.uploadUrl).toMatch(/^https:\/\/weft\.example\.com\/api\/public\/media\/uploads\/./)
  })

  it.each([
    [{ contentLength: 0 }, 422],
    [{ sha256Hash: 'abc' }, 422],
    [{ contentType: 'text\r\nx: y' }, 422],
    [{ contentLength: 1e9 }, 413],
  ])('announced with %j are refused', async (more, status) => {
    const { announce } = await openMedia()
    expect((await announce(PICTURE, more)).status).toBe(status)
  })

  it('have the length of their bytes, whatever was announced', async () => {
    const { announce, upload, read } = await openMedia()
    const lengthOf = async (mediaId: string) => (await read(mediaId)).body.contentLength
    const { body } = await announce(PICTURE, { contentLength: PICTURE.length + 1 })
    expect((await upload(body.uploadUrl, PICTURE)).statusCode).toBe(200)
    expect(await lengthOf(body.mediaId)).toBe(PICTURE.length)
    expect((await announce(PICTURE, { contentLength: 1 })).body.uploadUrl).toBeNull()
    expect(await lengthOf(body.mediaId)).toBe(PICTURE.length)
  })

  it('that are a file already need no upload', async () => {
    const { deps, post, langfuse, get } = await openLangfuse()
    const file = await deps.files.receiveFile(
      (async function* () {
        yield PICTURE
      })(),
    )
    await file.keep(project)
    const { body } = await post(`${BASE}/media`, announcementOf(PICTURE).request, langfuse)
    expect(body.uploadUrl).toBeNull()
    expect((await get(`${BASE}/media/${body.mediaId}`, langfuse)).status).toBe(200)
  })
})
