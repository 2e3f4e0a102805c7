import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { STARTED } from '../calls/call-fixtures.ts'
import { basic } from '../support/build-test-app.ts'
import { runUntilExit, spawnServer, TEST_KEY } from '../support/spawn-server.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const STORY = {
  messages: [{ role: 'user', content: 'Tell me a story.' }],
  stream: true,
  ignore_eos: true,
  max_tokens: 100_000,
}

/** Less than SQLite would wait for two connections, and far more than the shutdown takes. */
const PATIENCE_MS = 8_000

async function openStream(url: string, body: object): Promise<Response> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(response.status).toBe(200)
  return response
}

/** Sends the process its own signal as soon as it listens to it. */
const SIGNAL_AT_ONCE = `const { on } = process
process.on = (name, listener) => {
  on.call(process, name, listener)
  if (name === 'SIGINT') process.kill(process.pid, 'SIGTERM')
}`

describe('SIGTERM', () => {
  it('ends a server that still starts, which shows the key that it made', async () => {
    const { code, stdout, stderr } = await runUntilExit({
      WEFT_DATA_DIR: makeTempDir(),
      WEFT_OTLP_GRPC_PORT: '0',
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(SIGNAL_AT_ONCE)}`,
    })
    expect([code, stderr]).toEqual([0, expect.stringContaining('Your API key')])
    expect(stdout).toContain('"msg":"stopped"')
  })

  it('waits neither for idle connections, silent ones and parts of requests, nor for another process that writes', async () => {
    const dataDir = makeTempDir()
    const server = await spawnServer({ WEFT_DATA_DIR: dataDir })
    const port = Number(new URL(server.url).port)
    const [idle, silent, slow] = [1, 2, 3].map(() => connect(port, '127.0.0.1')) as [
      Socket,
      Socket,
      Socket,
    ]
    await Promise.all([idle, silent, slow].map((socket) => once(socket, 'connect')))
    for (const socket of [idle, silent, slow]) socket.on('error', () => undefined)
    idle.write('GET /health HTTP/1.1\r\nhost: x\r\n\r\n')
    await once(idle, 'data')
    slow.write('POST /call/start HTTP/1.1\r\nhost: x\r\ncontent-le')
    const startCall = async (n: number) => {
      const headers = { authorization: basic(TEST_KEY), 'content-type': 'application/json' }
      const body = JSON.stringify({ start: { ...STARTED, id: `c${n}` } })
      const { status } = await fetch(`${server.url}/call/start`, { method: 'POST', headers, body })
      expect(status).toBe(200)
    }
    await Promise.all(Array.from({ length: 10 }, (_, n) => startCall(n)))
    const other = new Database(join(dataDir, 'weft.db'))
    other.exec('BEGIN IMMEDIATE')
    const supervisor = setTimeout(() => server.process.kill('SIGKILL'), PATIENCE_MS)
    expect(await server.stop()).toEqual({ code: 0, signal: null })
    clearTimeout(supervisor)
    other.close()
    expect(server.output().stdout).toContain('"msg":"stopped"')
  })

  it('lets a short stream end by itself, also when the reader of the log has ended', async () => {
    const server = await spawnServer({ WEFT_DATA_DIR: makeTempDir() })
    server.process.stdout?.destroy()
    server.process.stderr?.destroy()
    for (let n = 0; n < 3; n++) {
      expect((await fetch(`${server.url}/nothing`)).status).toBe(404)
      await sleep(50)
    }
    const stream = await openStream(server.url, { ...STORY, max_tokens: 40 })
    const stopped = server.stop()
    const text = await stream.text()
    expect(text).toContain('"finish_reason":"length"')
    expect(text).not.toContain('"error"')
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
    expect(await stopped).toEqual({ code: 0, signal: null })
  })

  it('stops once, also when Ctrl-C comes from the terminal and again from npm', async () => {
    const server = await spawnServer({ WEFT_DATA_DIR: makeTempDir() })
    const stream = await openStream(server.url, { ...STORY, max_tokens: 40 })
    const stopped = server.stop('SIGINT')
    await expect.poll(() => server.output().stdout).toContain('"msg":"draining"')
    server.process.kill('SIGINT')
    server.process.kill('SIGTERM')
    expect(await stream.text()).toContain('"finish_reason":"length"')
    expect(await stopped).toEqual({ code: 0, signal: null })
    expect(server.output().stdout.match(/"msg":"draining"/g)).toHaveLength(1)
  })

  it('ends a stream that would go on with an error event, and does not wait for a reader that has stopped', async () => {
    const server = await spawnServer({
      WEFT_DATA_DIR: makeTempDir(),
      WEFT_DRAIN_TIMEOUT_MS: '100',
    })
    const unread = await openStream(server.url, { ...STORY, n: 64 })
    const reader = unread.body?.getReader()
    await reader?.read()
    const stream = await openStream(server.url, { ...STORY, n: 64 })
    const stopped = server.stop()
    const events = (await stream.text()).trimEnd().split('\n\n')
    expect(events.at(-2)).toMatch(/^data: \{"error":.*"code":"server_draining"/)
    expect(events.at(-1)).toBe('data: [DONE]')
    expect(await stopped).toEqual({ code: 0, signal: null })
    await reader?.cancel().catch(() => undefined)
  })

  it('refuses new requests with server_draining while it drains', async () => {
    const server = await spawnServer({
      WEFT_DATA_DIR: makeTempDir(),
      WEFT_DRAIN_TIMEOUT_MS: '3000',
    })
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    socket.setEncoding('utf8')
    await once(socket, 'connect')
    const stream = await openStream(server.url, { ...STORY, n: 64 })
    const stopped = server.stop()
    await expect.poll(() => server.output().stdout).toContain('draining')
    socket.write('GET /health HTTP/1.1\r\nhost: x\r\n\r\n')
    const [answer] = (await once(socket, 'data')) as [string]
    expect(answer).toMatch(/^HTTP\/1\.1 503 /)
    expect(answer).toContain('"code":"server_draining"')
    await stream.body?.cancel()
    expect(await stopped).toEqual({ code: 0, signal: null })
  })
})
