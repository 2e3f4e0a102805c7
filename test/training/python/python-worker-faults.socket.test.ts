/** The example worker in Python against servers that fail, lose answers and lie. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { CHOICE } from '../preview-fixtures.ts'
import { sha256Of, WORKER_URL } from '../worker-fixtures.ts'
import { hasPython, startPython } from './python-workers.ts'

interface Asked {
  readonly path: string
  // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape.
  readonly body: any
}

const PAYLOAD = JSON.stringify([
  { trajectories: [1, 0].map((reward) => ({ messages_and_choices: [CHOICE], reward })) },
])
const CLAIMED = {
  id: 'j1',
  attempt: 1,
  lease_token: 'lease',
  heartbeat_seconds: 30,
  parent_checkpoint: null,
  resolved_config: { learning_rate: 1, scale_rewards: true },
  payload: {
    url: `${WORKER_URL}/jobs/j1/payload`,
    sha256: sha256Of(PAYLOAD),
    bytes: PAYLOAD.length,
  },
  trainable_count: 2,
}

/** A server that answers by a script; what was asked stands in the list. */
async function listen(
  answer: (asked: Asked, before: readonly Asked[], response: ServerResponse) => void,
) {
  const seen: Asked[] = []
  const server = createServer((request: IncomingMessage, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
    request.on('end', () => {
      const path = (request.url ?? '').split('/').at(-1) ?? ''
      const asked = { path, body: text.startsWith('{"lease_token') ? JSON.parse(text) : text }
      const before = seen.filter((other) => other.path === path)
      seen.push(asked)
      answer(asked, before, response)
    })
  })
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

function refuse(response: ServerResponse, status: number, code: string): void {
  response
    .writeHead(status, { 'retry-after': '0' })
    .end(JSON.stringify({ error: { code, message: code } }))
}

describe.skipIf(!hasPython)('examples/worker.py at a bad server', { timeout: 60_000 }, () => {
  it('examples/worker.py retries claims and unanswered reports, and drops jobs that are not its own', async () => {
    const { url, seen } = await listen(({ path }, before, response) => {
      if (path === 'claim' && before.length === 0) return refuse(response, 503, 'server_draining')
      if (path === 'claim' && before.length === 1) return void response.end(JSON.stringify(CLAIMED))
      if (path === 'claim') return refuse(response, 401, 'invalid_api_key')
      if (path === 'payload') return void response.end(PAYLOAD)
      if (path === 'complete') return refuse(response, 409, 'lease_lost')
      // The report is stored, its answer is lost.
      if (path === 'events' && before.length === 0) return void response.destroy()
      response.end('{}')
    })
    const worker = startPython(url, 'example')
    await worker.ended
    expect(worker.child.exitCode).toBe(1)
    expect(seen.map(({ path }) => path)).toEqual([
      ...[
        'claim',
        'claim',
        'payload',
        'events',
        'events',
        'events',
        'artifact',
        'complete',
        'claim',
      ],
    ])
    const numbers = seen
      .filter(({ path }) => path === 'events')
      .map(({ body }) => body.events.map(({ seq }: { seq: number }) => seq))
    expect(numbers).toEqual([[0], [0], [1]])
    expect(worker.told()).toContain('is dropped')
    expect(worker.told().split('cannot be asked, is tried until it can: ')).toHaveLength(2)
  })

  it('examples/worker.py trains on no payload with a wrong hash, and sends its key to no other host', async () => {
    const elsewhere = await listen((_asked, _before, response) => void response.end(PAYLOAD))
    const { url, seen } = await listen(({ path }, before, response) => {
      if (path === 'claim' && before.length < 2) return void response.end(JSON.stringify(CLAIMED))
      if (path === 'claim') return refuse(response, 401, 'invalid_api_key')
      if (path !== 'payload') return void response.end('{}')
      if (before.length === 0) return void response.end(PAYLOAD.replace('four', 'five'))
      response.writeHead(302, { location: `${elsewhere.url}/payload` }).end()
    })
    const worker = startPython(url, 'example')
    await worker.ended
    const failures = seen.filter(({ path }) => path === 'fail').map(({ body }) => body)
    expect(failures).toEqual([
      {
        lease_token: 'lease',
        error: { code: 'worker_failed', message: expect.stringContaining('another hash') },
        retryable: true,
      },
      {
        lease_token: 'lease',
        error: { code: 'no_weft_error', message: expect.stringContaining('302') },
        retryable: false,
      },
    ])
    expect(elsewhere.seen).toEqual([])
  })
})
