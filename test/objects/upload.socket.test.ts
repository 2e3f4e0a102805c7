import { readdirSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { basic, buildTestApp } from '../support/build-test-app.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { PROJECT, tableOf } from './object-fixtures.ts'

async function listen(bodyBytesMax = 1_000_000) {
  const dataDir = makeTempDir()
  const test = await buildTestApp({ dataDir, bodyBytesMax })
  await test.app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = test.app.server.address() as AddressInfo
  const received = () => readdirSync(join(dataDir, 'files', 'received'))
  return { ...test, port, received, url: `http://127.0.0.1:${port}` }
}

const HEAD = [
  '--b\r\ncontent-disposition: form-data; name="project_id"\r\n\r\n',
  `${PROJECT}\r\n`,
  '--b\r\ncontent-disposition: form-data; name="file"; filename="blob"\r\n\r\n',
].join('')

/** Begins to send a form without saying how long it is. */
function openUpload(port: number, key: string) {
  const headers = {
    'content-type': 'multipart/form-data; boundary=b',
    authorization: basic(key),
    'transfer-encoding': 'chunked',
  }
  const request = httpRequest({
    port,
    host: '127.0.0.1',
    method: 'POST',
    path: '/file/create',
    headers,
  })
  request.on('error', () => {})
  request.write(HEAD)
  return request
}

it('takes a form over a socket and gives the bytes back', async () => {
  const { url, key } = await listen()
  const form = new FormData()
  form.append('project_id', PROJECT)
  form.append('file', new Blob(['x'.repeat(300_000)]), 'blob')
  const headers = { authorization: basic(key) }
  const created = await fetch(`${url}/traces/file/create`, { method: 'POST', body: form, headers })
  const { digest } = (await created.json()) as { digest: string }
  const content = await fetch(`${url}/traces/file/content`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ project_id: PROJECT, digest }),
  })
  expect(await content.text()).toBe('x'.repeat(300_000))
})

it('answers 413 to a file above the limit that never said its length, and leaves nothing', async () => {
  const { port, key, received } = await listen(200_000)
  const request = openUpload(port, key)
  const answer = new Promise<number>((resolve) => {
    request.on('response', (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
  })
  for (let at = 0; at < 10; at++) request.write('x'.repeat(100_000))
  request.end('\r\n--b--\r\n')
  expect(await answer).toBe(413)
  await expect.poll(() => received()).toEqual([])
})

it('leaves nothing of a file whose client leaves before its end', async () => {
  const { port, key, received, post } = await listen()
  const request = openUpload(port, key)
  request.write('x'.repeat(200_000))
  await expect.poll(() => received()).toHaveLength(1)
  request.destroy()
  await expect.poll(() => received()).toEqual([])
  const { body } = await post('/files/query_stats', { project_id: PROJECT })
  expect(body.total_size_bytes).toBe(0)
})

it('stays up when a client leaves in the middle of a table', async () => {
  const { url, key, post } = await listen(32_000_000)
  const rows = Array.from({ length: 4000 }, (_, n) => ({ n, text: 'x'.repeat(4000) }))
  const { body: table } = await post('/table/create', tableOf(rows))
  const abort = new AbortController()
  const response = await fetch(`${url}/table/query`, {
    method: 'POST',
    headers: { authorization: basic(key), 'content-type': 'application/json' },
    body: JSON.stringify({ project_id: PROJECT, digest: table.digest }),
    signal: abort.signal,
  })
  await response.body?.getReader().read()
  abort.abort()
  const stats = { project_id: PROJECT, digest: table.digest }
  expect((await post('/table/query_stats', stats)).body).toEqual({ count: 4000 })
})
