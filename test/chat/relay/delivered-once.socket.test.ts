import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  type Behaviour,
  html,
  json,
  silence,
  startFakeUpstream,
} from '../../support/fake-upstream.ts'
import { startModelServer, upstreamModel } from '../../support/model-server.ts'

const MESSAGES = [{ role: 'user', content: 'hi' }]
const ANSWER = { choices: [{ index: 0, message: { content: 'x' }, finish_reason: 'stop' }] }
const BODY = JSON.stringify(ANSWER)
const WHOLE = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`
/** Longer than a close takes to arrive. */
const AT_WORK_MS = 700

/** Delays the loss of the connection, as if the request were being processed. */
const worksThenResets: Behaviour = async (response) => {
  await sleep(50)
  response.socket?.resetAndDestroy()
}
const worksThenCloses: Behaviour = async (response) => {
  await sleep(50)
  response.socket?.end()
}

describe.each([false, true])('a completion that was sent three times, stream %s', (stream) => {
  it.each<[string, Behaviour]>([
    ['worked and then reset the connection', worksThenResets],
    ['worked and then closed the connection', worksThenCloses],
    ['answered 500', json(500, {})],
    ['answered 502', html(502)],
    ['answered 504', json(504, {})],
    ['took too long', silence],
  ])('reaches an upstream that %s exactly once', async (_name, behaviour) => {
    const upstream = await startFakeUpstream(behaviour)
    const timeoutMs = behaviour === silence ? { first_byte: 500, total: 500 } : {}
    const { chat } = await startModelServer(upstreamModel(upstream.baseUrl, { timeoutMs }))
    expect((await chat({ messages: MESSAGES, stream })).status).toBeGreaterThanOrEqual(500)
    expect(upstream.requests).toHaveLength(1)
  })
})

/**
 * A server on bare sockets whose every connection answers its first request; what it does with the second is the
 * test's. Counts the requests that it received.
 */
async function startKeeping(second: (socket: Socket) => unknown) {
  let receivedCount = 0
  const server = createServer((socket) => {
    let askedCount = 0
    socket.on('error', () => {}).setEncoding('utf8')
    let text = ''
    socket.on('data', (piece) => {
      text += piece
      const length = Number(/content-length: (\d+)\r\n/.exec(text)?.[1])
      if (text.length < text.indexOf('\r\n\r\n') + 4 + length) return
      text = ''
      receivedCount += 1
      askedCount += 1
      if (askedCount === 1) socket.write(WHOLE)
      else void second(socket)
    })
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const test = await startModelServer(upstreamModel(`http://127.0.0.1:${port}/v1`))
  expect((await test.chat({ messages: MESSAGES })).status).toBe(200)
  return { ...test, receivedCount: () => receivedCount }
}

describe('a kept connection that the upstream closes', () => {
  it.each<[string, (socket: Socket) => unknown]>([
    ['closed', (socket) => socket.end()],
    ['reset', (socket) => socket.resetAndDestroy()],
  ])('at once, %s without a byte, costs no completion', async (_name, close) => {
    const { chat, receivedCount } = await startKeeping(close)
    expect((await chat({ messages: MESSAGES })).status).toBe(200)
    expect(receivedCount()).toBe(3)
  })

  it.each<[string, (socket: Socket) => unknown]>([
    ['after it worked', (socket) => sleep(AT_WORK_MS).then(() => socket.end())],
    ['after a byte of the answer', (socket) => socket.end('H')],
    ['after an interim answer', (socket) => socket.end('HTTP/1.1 100 Continue\r\n\r\n')],
  ])('%s gets the request once', async (_name, close) => {
    const { chat, receivedCount } = await startKeeping(close)
    expect((await chat({ messages: MESSAGES })).status).toBe(502)
    expect(receivedCount()).toBe(2)
  })
})
