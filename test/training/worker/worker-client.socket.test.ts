/** The worker's requests over real sockets: what is sent, what is tried again, what is not. */
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { ClaimResponse } from '../../../src/schemas/training/worker.ts'
import { createWorkerClient } from '../../../src/training/worker/worker-client.ts'

interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}
type Answer = readonly [
  status: number | 'lost' | 'broken',
  body?: string | Uint8Array,
  headers?: Record<string, string>,
]

const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** A server that gives its answers one after the other; the last one for ever. */
async function serve(...answers: readonly Answer[]) {
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const { method = '', url = '', headers } = request
    const [status, body = '', extra = {}] = answers[Math.min(seen.length, answers.length - 1)]!
    seen.push({ method, url, headers, body: Buffer.concat(parts) })
    if (status === 'lost') request.socket.destroy()
    else if (status === 'broken') {
      response.writeHead(200, { 'content-length': 2 })
      response.write(body, () => request.socket.destroy())
    } else response.writeHead(status, extra).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return { seen, client: createWorkerClient(`http://127.0.0.1:${port}`, 'wk_secret') }
}

const claim = (url: string, hash = sha256('[]')) =>
  ({
    id: 'job-1',
    lease_token: 'lease',
    payload: { url, sha256: hash, bytes: 2 },
    parent_checkpoint: null,
  }) as unknown as ClaimResponse
const job = (answer: Awaited<ReturnType<typeof serve>>, url = '/payload', hash?: string) =>
  answer.client.job(claim(url, hash))
const REQUEST = { worker_id: 'w', worker_version: '1', base_models: ['tiny'], wait_seconds: 1 }

describe('claim', () => {
  it('a claim sends the key and returns the job', async () => {
    const server = await serve([200, '{"id":"job-1"}'])
    const found = await server.client.claim(REQUEST, new AbortController().signal)
    expect(found).toEqual({ id: 'job-1' })
    expect(server.seen[0]).toMatchObject({ method: 'POST', url: '/v1/preview/worker/claim' })
    expect(server.seen[0]!.headers.authorization).toBe('Bearer wk_secret')
    expect(JSON.parse(server.seen[0]!.body.toString())).toEqual(REQUEST)
  })

  it('a claim is null when there is no job, and ends with its signal', async () => {
    const server = await serve([204])
    expect(await server.client.claim(REQUEST, new AbortController().signal)).toBeNull()
    await expect(server.client.claim(REQUEST, AbortSignal.abort())).rejects.toThrow()
    expect(server.seen).toHaveLength(1)
  })
})

describe('downloads', () => {
  it('downloads send the lease and are checked against their hash', async () => {
    const server = await serve([200, '[]'])
    expect(await job(server).payload()).toBe('[]')
    expect(server.seen[0]).toMatchObject({ method: 'GET', url: '/payload' })
    expect(server.seen[0]!.headers['x-weft-lease']).toBe('lease')
    await expect(job(server, '/payload', sha256('other')).payload()).rejects.toThrow(/hash/)
  })

  it('truncated downloads are retried', async () => {
    const server = await serve(['broken', '['], [200, '[]'])
    expect(await job(server).payload()).toBe('[]')
    expect(server.seen).toHaveLength(2)
    const reports = await serve(['broken', '{'], [200, '{"cancel_requested":false}'])
    expect(await job(reports).heartbeat(0.5)).toEqual({ cancel_requested: false })
  })

  it('downloads from another host and redirects are refused', async () => {
    const other = await serve([200, '[]'])
    const server = await serve([307, '', { location: 'http://127.0.0.1:9/' }])
    for (const url of ['http://127.0.0.1:9/x', '//127.0.0.1:9/x', 'payload']) {
      await expect(job(other, url).payload()).rejects.toThrow()
    }
    expect(other.seen).toEqual([])
    await expect(job(server).heartbeat(0)).rejects.toMatchObject({ status: 307 })
  })

  it('the base model has no parent to download', async () => {
    const server = await serve([500])
    expect(await job(server).parent()).toBeNull()
    expect(server.seen).toEqual([])
  })
})

describe('reports', () => {
  it('reports are retried after a temporary error response', async () => {
    const server = await serve([503], [429], [200, '{"ok":true}'])
    await job(server).complete({ sha256: null, metrics: {}, trained: false, reason: 'no_choice' })
    expect(server.seen).toHaveLength(3)
    for (const { url, body } of server.seen) {
      expect(url).toBe('/v1/preview/worker/jobs/job-1/complete')
      expect(JSON.parse(body.toString())).toEqual({
        lease_token: 'lease',
        sha256: null,
        metrics: {},
        trained: false,
        reason: 'no_choice',
      })
    }
  })

  it('reports are retried after a lost connection', async () => {
    const server = await serve(['lost'], [200, '{"cancel_requested":true}'])
    expect(await job(server).heartbeat(0.5)).toEqual({ cancel_requested: true })
    const failure = { error: { code: 'out_of_memory', message: 'no' }, retryable: true }
    await job(server).fail(failure)
    expect(server.seen.map(({ url, body }) => [url, JSON.parse(body.toString())])).toEqual([
      ['/v1/preview/worker/jobs/job-1/heartbeat', { lease_token: 'lease', progress: 0.5 }],
      ['/v1/preview/worker/jobs/job-1/heartbeat', { lease_token: 'lease', progress: 0.5 }],
      ['/v1/preview/worker/jobs/job-1/fail', { lease_token: 'lease', ...failure }],
    ])
  })

  it('in place of another are made once', async () => {
    const server = await serve([503])
    const lease = { id: 'job-1', lease_token: 'lease' }
    const { signal } = new AbortController()
    await expect(server.client.renew(lease, signal)).rejects.toMatchObject({ status: 503 })
    await expect(server.client.release(lease, signal)).rejects.toMatchObject({ status: 503 })
    expect(server.seen.map(({ url }) => url)).toEqual([
      ...['/v1/preview/worker/jobs/job-1/heartbeat', '/v1/preview/worker/jobs/job-1/release'],
    ])
  })

  it('reports are not retried when the lease is lost', async () => {
    const server = await serve([409, '{"error":{"code":"lease_lost"}}'])
    await expect(job(server).release()).rejects.toMatchObject({ name: 'LeaseLostError' })
    expect(server.seen).toHaveLength(1)
  })

  it('refused reports are not retried', async () => {
    const server = await serve([422])
    await expect(job(server).sendEvents([])).rejects.toMatchObject({ status: 422 })
    expect(server.seen).toHaveLength(1)
  })

  it.each([
    ['that the server gives', '{"error":{"message":"no."}}', ': no.'],
    [
      'of a long message, cut',
      `{"error":{"message":"${'x'.repeat(5_000)}"}}`,
      `: ${'x'.repeat(300)}`,
    ],
    ['of no error', '{"detail":"no"}', ''],
    ['of no JSON', '<p>no</p>', ''],
    ['of an endless answer', `{"error":{"message":"no","padding":"${'x'.repeat(1e6)}"}}`, ''],
  ])('a refused report has the reason %s', async (_what, body, reason) => {
    const server = await serve([422, body])
    await expect(job(server).sendEvents([])).rejects.toMatchObject({
      message: `/v1/preview/worker/jobs/job-1/events answered 422${reason}`,
    })
  })

  it('an upload sends bytes with their hash', async () => {
    const server = await serve([200, '{}'])
    const bytes = Uint8Array.of(0, 1, 2, 255)
    expect(await job(server).upload(bytes)).toBe(sha256(bytes))
    const [sent] = server.seen
    expect(sent).toMatchObject({ method: 'PUT', url: '/v1/preview/worker/jobs/job-1/artifact' })
    expect(sent!.headers).toMatchObject({
      'x-weft-lease': 'lease',
      'x-weft-sha256': sha256(bytes),
      'content-type': 'application/octet-stream',
    })
    expect([...sent!.body]).toEqual([0, 1, 2, 255])
  })
})
