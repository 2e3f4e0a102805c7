/**
 * Child process of bench/relay.ts: the least that a relay can be on the same libraries. It reads a body as
 * bytes, sends them on, and passes whatever comes back.
 */
import Fastify from 'fastify'
import { Pool } from 'undici'

const [port, upstreamPort] = process.argv.slice(2).map(Number)

const pool = new Pool(`http://127.0.0.1:${upstreamPort}`, { connections: 2_048 })
const app = Fastify()
app.removeAllContentTypeParsers()
app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
app.post('/v1/chat/completions', async (request, reply) => {
  const { statusCode, headers, body } = await pool.request({
    path: '/v1/chat/completions',
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: request.body as Buffer,
  })
  reply.code(statusCode).header('content-type', headers['content-type'])
  if (headers['content-length'] === undefined) return reply.send(body)
  return reply.send(Buffer.from(await body.arrayBuffer()))
})
await app.listen({ host: '127.0.0.1', port })
