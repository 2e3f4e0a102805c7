/** Clients that keep their connections, as proxies do, while a server shuts down. */
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { buildTestApp } from '../support/build-test-app.ts'

const CLIENTS = 8
/** Pause of a client between two requests. */
const PAUSE_MS = 20

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
  async function askUntilRefused(): Promise<void> {
    while (seen.at(-1) !== 'ECONNREFUSED') {
      seen.push(await ask())
      await sleep(PAUSE_MS * Math.random())
    }
  }

  // A connection that is opened just as the server stops to listen may be reset.
  await Promise.all(Array.from({ length: CLIENTS }, ask))
  const asking = Promise.all(Array.from({ length: CLIENTS }, askUntilRefused))
  await sleep(PAUSE_MS)
  await app.close()
  await asking
  expect(new Set(seen)).toEqual(new Set([200, 503, 'ECONNREFUSED']))
  // One response for each connection tells that it is closed.
  expect(seen.filter((status) => status === 503).length).toBeLessThanOrEqual(CLIENTS)
})
