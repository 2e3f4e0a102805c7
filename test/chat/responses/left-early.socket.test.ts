import { type AddressInfo, connect } from 'node:net'
import Fastify from 'fastify'
import { expect, it, onTestFinished } from 'vitest'
import type { App } from '../../../src/http/app-type.ts'
import { responseEnd } from '../../../src/http/log/request-log.ts'
import { drain } from '../../../src/http/stream/drain.ts'
import { openInference } from '../../../src/routes/chat/inference.ts'
import { responseRoutes } from '../../../src/routes/chat/responses.ts'
import { createRunningResponses } from '../../../src/routes/chat/running-responses.ts'
import { SCOPES } from '../../../src/schemas/access/key.ts'
import { buildTestApp } from '../../support/build-test-app.ts'
import { createScriptedBackend, HELLO, scriptedModels } from '../../support/scripted-backend.ts'

const CALLER = { keyId: 'k', svc_user_id: 'u', svc_username: 'U', scopes: SCOPES, projects: ['*'] }

it('a response whose client left before it began is not kept as one that runs', async () => {
  const { deps } = await buildTestApp()
  const models = scriptedModels({ backend: createScriptedBackend(HELLO) })
  const app = Fastify() as unknown as App
  onTestFinished(() => app.close())
  app.decorateRequest('principal', null).decorateRequest('bodyText', null)
  app.addHook('preHandler', async (request) => {
    request.principal = CALLER
  })
  app.setValidatorCompiler(() => (value) => ({ value }))
  await app.register(responseEnd)
  await app.register(drain, { drainTimeoutMs: 0 })
  const { run } = openInference(app, {
    models,
    trained: deps.previewModels,
    checkpoints: deps.checkpoints,
    servedAliases: deps.servedAliases,
    completionsMax: 1,
    keyCompletionsMax: null,
    keyRequestsPerMinute: null,
    keyTokensPerMinute: null,
    recordings: deps.recordings,
    budgets: deps.budgets,
    prices: deps.prices,
    completionCache: deps.completionCache,
    cacheBytesMax: 1,
    watch: deps.metrics,
    refScheme: 'weave',
    webhookHosts: [],
    nowUs: () => 0,
  })
  const { promise: left, resolve: leave } = Promise.withResolvers<void>()
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  app.addHook('onRequest', async (_request, reply) => {
    reply.raw.once('close', leave)
  })
  app.setErrorHandler(async () => end())
  const choose = async () => {
    await left
    return models.getModel(null)
  }
  const running = createRunningResponses(app, { responseCancels: undefined, nowUs: () => 0 })
  const ids: string[] = []
  const noting = {
    ...running,
    add(...[id, response]: Parameters<typeof running.add>) {
      ids.push(id)
      return running.add(id, response)
    },
  }
  await app.register(responseRoutes, {
    choice: { choose } as never,
    run,
    responses: deps.responses,
    running: noting,
    nowUs: () => 0,
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  const body = JSON.stringify({ input: 'hi' })
  const head = `POST /v1/responses HTTP/1.1\r\nhost: x\r\ncontent-type: application/json`
  socket.write(`${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
  socket.end(() => socket.destroy())
  await ended
  expect(ids).toHaveLength(1)
  expect(running.cancel(ids[0]!, CALLER)).toBeNull()
})
