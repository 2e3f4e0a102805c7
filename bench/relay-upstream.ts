/**
 * Child process of bench/relay.ts: the upstream. It answers at once and understands as little as it can:
 * a whole answer, a stream of events, one a turn of its loop, or a stream that stays open.
 */
import { createServer, type ServerResponse } from 'node:http'
import { EVENTS, HELD_MODEL } from './relay-requests.ts'

const HEAD = '"id":"chatcmpl-bench","created":1767225600,"model":"bench"'
const TEXT = 'The answer is a sentence of ordinary length. '.repeat(8)
const USAGE = '{"prompt_tokens":200,"completion_tokens":90,"total_tokens":290}'
const WHOLE = `{${HEAD},"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"${TEXT}"},"logprobs":null,"finish_reason":"stop"}],"usage":${USAGE}}`

const renderChunk = (choices: string, rest = '') =>
  `data: {${HEAD},"object":"chat.completion.chunk","choices":[${choices}]${rest}}\n\n`
const renderDelta = (delta: string, finish = 'null') =>
  renderChunk(`{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finish}}`)

const FIRST = renderDelta('{"role":"assistant","content":""}')
const PIECE = renderDelta('{"content":" word"}')
const LAST = renderDelta('{}', '"stop"')
const DONE = 'data: [DONE]\n\n'
const END = LAST + DONE
const END_WITH_USAGE = LAST + renderChunk('', `,"usage":${USAGE}`) + DONE

function stream(response: ServerResponse, body: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
  response.write(FIRST)
  let left = EVENTS
  const step = () => {
    if (response.destroyed) return
    if (left === 0) {
      response.end(body.includes('"include_usage":true') ? END_WITH_USAGE : END)
      return
    }
    left -= 1
    if (response.write(PIECE)) setImmediate(step)
    else response.once('drain', step)
  }
  if (body.includes(`"${HELD_MODEL}"`)) response.write(PIECE)
  else setImmediate(step)
}

const server = createServer((request, response) => {
  const pieces: Buffer[] = []
  request.on('data', (piece: Buffer) => pieces.push(piece))
  request.on('end', () => {
    const body = Buffer.concat(pieces).toString('latin1')
    if (body.includes('"stream":true')) {
      stream(response, body)
      return
    }
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': WHOLE.length,
    })
    response.end(WHOLE)
  })
})
server.keepAliveTimeout = 60_000
server.listen(Number(process.argv[2]), '127.0.0.1')
