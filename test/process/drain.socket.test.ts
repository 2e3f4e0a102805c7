/** Clients that keep their connections, as proxies do, while a server shuts down. */
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { buildTestApp } from '../support/build-test-app.ts'
import { createScriptedBackend, HELLO, scriptedModels } from '../support/scripted-backend.ts'

const CLIENTS = 8
/** Limit: the pause of a client between two requests. */
const PAUSE_MS = 20
const PIPELINED = 3

it('a shutdown breaks no connection on which requests come, and listens no longer', async () => {
  const { app } = await buildTestApp()
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())

  /** @returns the status, or the code of the error */
  const ask = () =>
    new Promise<number | string | undefined>((resolve) => {
      const sent = request(`${address}/health`, { agent }, (response) => {
        response.on('end', () => resolve(response.statusCode)).resume()
      })
      sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code))
      sent.end()
    })
  const seen: (number | string | undefined)[] = []
  async function askUntilRefused(pauseMs: number): Promise<void> {
    while (seen.at(-1) !== 'ECONNREFUSED') {
      seen.push(await ask())
      await sleep(pauseMs)
    }
  }

  // A connection that is opened just as the server stops to listen may be reset.
  await Promise.all(Array.from({ length: CLIENTS }, ask))
  const asking = Promise.all(
    Array.from({ length: CLIENTS }, (_, at) => askUntilRefused((PAUSE_MS * (at + 1)) / CLIENTS)),
  )
  await sleep(PAUSE_MS)
  await app.close()
  await asking
  expect(new Set(seen)).toEqual(new Set([200, 503, 'ECONNREFUSED']))
  // One response for each connection tells that it is closed.
  expect(seen.filter((status) => status === 503).length).toBeLessThanOrEqual(CLIENTS)
})

it('a shutdown sends the responses to all requests that were pipelined on a connection', async () => {
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  const backend = createScriptedBackend([held, ...HELLO])
  const { app, key } = await buildTestApp({}, { models: scriptedModels({ backend }) })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const body = JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }] })
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}`
  const sent = `${head}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  const socket = connect(port, '127.0.0.1').setEncoding('utf8')
  onTestFinished(() => void socket.destroy())
  let received = ''
  socket.on('data', (part: string) => {
    received += part
  })
  const closed = once(socket, 'close')
  socket.write(sent.repeat(PIPELINED))
  await expect.poll(() => backend.runningCount()).toBe(PIPELINED)
  const stopped = app.close()
  await expect.poll(() => app.server.listening).toBe(false)
  release()
  await Promise.all([stopped, closed])
  expect(received.match(/HTTP\/1\.1 200/g)).toHaveLength(PIPELINED)
  expect(received.match(/connection: close/gi)).toHaveLength(1)
})
