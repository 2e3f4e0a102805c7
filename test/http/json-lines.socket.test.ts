import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import Fastify from 'fastify'
import { expect, it, onTestFinished } from 'vitest'
import { sendLines } from '../../src/http/stream/json-lines.ts'

async function serve(texts: () => AsyncIterable<string>, onLeft: () => void = () => undefined) {
  const app = Fastify()
  onTestFinished(() => app.close())
  app.get('/', async (_request, reply) => {
    reply.raw.once('close', onLeft)
    return sendLines(reply, texts())
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  return (app.server.address() as AddressInfo).port
}

it('JSON lines are sent in order', async () => {
  const port = await serve(async function* () {
    for (let line = 0; line < 100; line++) yield `${line}\n`
  })
  const response = await fetch(`http://127.0.0.1:${port}`)
  const lines = Array.from({ length: 100 }, (_, line) => `${line}\n`)
  expect([response.status, await response.text()]).toEqual([200, lines.join('')])
})

it('a list without lines gets an empty response', async () => {
  const port = await serve(async function* () {})
  const response = await fetch(`http://127.0.0.1:${port}`)
  expect([response.status, await response.text()]).toEqual([200, ''])
})

it('a failure of the first line becomes a status', async () => {
  const port = await serve(async function* (): AsyncGenerator<string> {
    yield await Promise.reject(new Error('no first line'))
  })
  expect((await fetch(`http://127.0.0.1:${port}`)).status).toBe(500)
})

it.each([
  ['before the first line', false],
  ['between lines', true],
])('the source of lines is released when the client disconnects %s', async (_name, isBegun) => {
  const { promise: left, resolve: leave } = Promise.withResolvers<void>()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const port = await serve(async function* () {
    try {
      if (isBegun) yield 'first\n'
      await left
      for (;;) yield 'further\n'
    } finally {
      release()
    }
  }, leave)
  const socket = connect(port, '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  if (isBegun) await once(socket, 'data')
  else await once(socket, 'connect')
  socket.end(() => socket.destroy())
  await released
})
