import Fastify from 'fastify'
import { expect, it, onTestFinished } from 'vitest'
import type { App } from '../../../src/http/app-type.ts'
import { createRunningResponses } from '../../../src/routes/chat/running-responses.ts'

const WAITING_MAX = 100
const CALLER = { keyId: 'key', projects: ['*'] }

it('at most 100 requests wait for other processes, and those whose clients leave are withdrawn', async () => {
  const app = Fastify() as unknown as App
  onTestFinished(() => app.close())
  const requested = new Set<string>()
  const running = createRunningResponses(app, {
    nowUs: () => 0,
    responseCancels: {
      requestCancel: async ({ id }) => void requested.add(id),
      listRequested: async () => [],
      fulfil: async () => undefined,
      findCancelled: async () => null,
      withdraw: async (id) => void requested.delete(id),
    },
  })
  const client = new AbortController()
  const wait = () => running.cancelElsewhere('resp_1', CALLER, client.signal)
  const waiting = Array.from({ length: WAITING_MAX }, wait)
  await expect(wait()).rejects.toMatchObject({ code: 'server_overloaded' })
  expect(requested.size).toBe(WAITING_MAX)
  client.abort(new Error('left'))
  const ended = await Promise.allSettled(waiting)
  expect(new Set(ended.map(({ status }) => status))).toEqual(new Set(['rejected']))
  expect(requested.size).toBe(0)
  // There is room again.
  await expect(wait()).rejects.toThrow('left')
})
