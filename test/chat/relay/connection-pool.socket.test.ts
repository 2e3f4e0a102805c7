import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createConnectionPool } from '../../../src/inference/openai/connection-pool.ts'
import { createConnect } from '../../../src/inference/openai/connector.ts'

const CONNECT_MS = 5_000
const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

/** A server that hands its connections to the test, and a pool to it. */
async function start({ connectionsMax = 10 } = {}) {
  const sockets: Socket[] = []
  const received: string[] = []
  const server = createServer((socket) => {
    const number = sockets.push(socket) - 1
    received[number] = ''
    socket.on('data', (piece) => {
      received[number] = `${received[number]}${piece}`
    })
    socket.on('error', () => {})
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const clock = { nowMs: 0 }
  const pool = createConnectionPool({
    connectionsMax,
    nowMs: () => clock.nowMs,
    connect: createConnect(new URL(`http://127.0.0.1:${port}`), CONNECT_MS),
  })
  onTestFinished(() => {
    pool.close()
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return { pool, sockets, received, clock, server }
}

type Pool = Awaited<ReturnType<typeof start>>['pool']

/** Sends a request; `result` is its body, or the message of what went wrong. */
function send(pool: Pool, text: string) {
  const { promise: result, resolve } = Promise.withResolvers<string>()
  let body = ''
  const sending = pool.send(text, {
    onHead() {},
    onPiece(piece) {
      body += Buffer.from(piece)
    },
    onEnd: () => resolve(body),
    onError: (error) => resolve(`failed: ${(error as Error).message}`),
  })
  return { result, ...sending }
}

/** Until the server has read a text on a connection. */
const arrival = (received: readonly string[], at: number, text: string) =>
  expect.poll(() => received[at]).toContain(text)

describe('createConnectionPool', () => {
  it('takes a free connection again, and a new one beside a busy one', async () => {
    const { pool, sockets, received } = await start()
    const first = send(pool, 'one')
    await arrival(received, 0, 'one')
    sockets[0]?.write(OK)
    expect(await first.result).toBe('ok')
    send(pool, 'two')
    send(pool, 'three')
    await arrival(received, 0, 'onetwo')
    await arrival(received, 1, 'three')
  })

  it('lets requests wait when there are as many connections as there may be', async () => {
    const { pool, sockets, received } = await start({ connectionsMax: 1 })
    const first = send(pool, 'one')
    const second = send(pool, 'two')
    send(pool, 'left').abort()
    const last = send(pool, 'last')
    await arrival(received, 0, 'one')
    sockets[0]?.write(OK)
    await arrival(received, 0, 'onetwo')
    // The connection is lost: the one that waits gets another.
    sockets[0]?.destroy()
    expect(await first.result).toBe('ok')
    expect(await second.result).toMatch(/^failed: /)
    await arrival(received, 1, 'last')
    sockets[1]?.write(OK)
    expect(await last.result).toBe('ok')
    expect(received.join()).not.toContain('left')
  })

  it.each([
    ['as long as the upstream says, less a second', 'keep-alive: timeout=9\r\n', 7_999, 8_000],
    ['four seconds when it says nothing', '', 3_999, 4_000],
    ['not at all when it closes', 'connection: close\r\n', null, 0],
  ])('keeps a connection %s', async (_name, header, keptMs, goneMs) => {
    const { pool, sockets, received, clock } = await start()
    const answer = OK.replace('content', `${header}content`)
    async function ask(connection: number) {
      const { result } = send(pool, 'ask')
      await arrival(received, connection, 'ask')
      received[connection] = ''
      sockets[connection]?.write(answer)
      expect(await result).toBe('ok')
    }
    await ask(0)
    let next = 0
    if (keptMs !== null) {
      clock.nowMs = keptMs
      await ask(0)
      next = keptMs
    }
    clock.nowMs = next + goneMs
    await ask(1)
  })

  it.each([
    ['was sent more than its answer', `${OK}HTTP/1.1 200 OK\r\n`],
    ['got an answer to nothing', OK + OK],
  ])('never uses a connection again that %s', async (_name, text) => {
    const { pool, sockets, received } = await start()
    const first = send(pool, 'one')
    await arrival(received, 0, 'one')
    sockets[0]?.write(text)
    expect(await first.result).toBe('ok')
    send(pool, 'two')
    await arrival(received, 1, 'two')
  })

  it.each([
    ['bytes', (socket: Socket) => void socket.write(OK)],
    ['an end', (socket: Socket) => void socket.end()],
  ])('sees %s that came unasked before it sends on a connection', async (_name, speak) => {
    const { pool, sockets, received } = await start()
    const first = send(pool, 'one')
    await arrival(received, 0, 'one')
    sockets[0]?.write(OK)
    expect(await first.result).toBe('ok')
    // From a timer, behind which the event loop reads before it sends.
    const second = await new Promise<ReturnType<typeof send>>((resolve) => {
      setTimeout(() => {
        if (sockets[0]) speak(sockets[0])
        resolve(send(pool, 'two'))
      }, 1)
    })
    expect(await second.result).toMatch(/^failed: /)
    expect(received[0]).toBe('one')
  })

  it('never uses a connection again whose request was answered before it was read', async () => {
    const { pool, sockets } = await start()
    const first = send(pool, 'x'.repeat(32 * 1024 * 1024))
    await expect.poll(() => sockets.length).toBe(1)
    sockets[0]?.pause()
    sockets[0]?.write(OK)
    expect(await first.result).toBe('ok')
    send(pool, 'two')
    await expect.poll(() => sockets.length).toBe(2)
  })

  it('reads no more of an answer while it is held back', async () => {
    const { pool, sockets, received } = await start()
    const { result, pause, resume } = send(pool, 'one')
    await arrival(received, 0, 'one')
    sockets[0]?.write('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n')
    pause()
    const size = 16 * 1024 * 1024
    let isDrained = false
    sockets[0]?.end('x'.repeat(size), () => {
      isDrained = true
    })
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate)
    expect(isDrained).toBe(false)
    resume()
    expect((await result).length).toBe(size)
  })

  it('fails what is on its way and what waits when it is closed', async () => {
    const { pool, received } = await start({ connectionsMax: 1 })
    const both = [send(pool, 'one'), send(pool, 'two')]
    await arrival(received, 0, 'one')
    pool.close()
    const late = send(pool, 'three')
    for (const { result } of [...both, late]) expect(await result).toMatch(/^failed: /)
  })

  it('cuts a connection that is not trusted, and fails the request that came after', async () => {
    const { pool, sockets, received } = await start()
    const first = send(pool, 'one')
    await arrival(received, 0, 'one')
    sockets[0]?.write(OK)
    expect(await first.result).toBe('ok')
    const second = send(pool, 'two')
    await arrival(received, 0, 'onetwo')
    first.distrust()
    expect(await second.result).toMatch(/^failed: /)
    const third = send(pool, 'three')
    await arrival(received, 1, 'three')
    sockets[1]?.write(OK)
    expect(await third.result).toBe('ok')
  })

  it('cuts the connection of a request that is aborted, in every phase', async () => {
    const { pool, sockets, received } = await start()
    send(pool, 'connecting').abort()
    const { abort } = send(pool, 'one')
    await expect.poll(() => received.some((text) => text === 'one')).toBe(true)
    abort()
    await expect.poll(() => sockets.every(({ destroyed }) => destroyed)).toBe(true)
    expect(received.join()).not.toContain('connecting')
  })
})
