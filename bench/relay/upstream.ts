/**
 * Child process of bench/relay.ts: the upstream. It works on bare sockets and parses as little as possible, to leave
 * the processors to the relays. It answers at once: a whole answer, a stream with one event per turn of the event loop,
 * or a stream that stays open.
 */
import { createServer, type Socket } from 'node:net'
import { EVENTS, HELD_MODEL } from './requests.ts'

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

const WHOLE_ANSWER = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${WHOLE.length}\r\nkeep-alive: timeout=60\r\n\r\n${WHOLE}`
const STREAM_HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\nkeep-alive: timeout=60\r\ntransfer-encoding: chunked\r\n\r\n'

const toChunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
const LAST_CHUNK = toChunk('')
const STREAM_START = STREAM_HEAD + toChunk(FIRST)
const PIECE_CHUNK = toChunk(PIECE)

function stream(socket: Socket, body: string): void {
  socket.write(STREAM_START)
  let left = EVENTS
  const step = () => {
    if (socket.destroyed) return
    if (left === 0) {
      const end = body.includes('"include_usage":true') ? END_WITH_USAGE : END
      socket.write(toChunk(end) + LAST_CHUNK)
      return
    }
    left -= 1
    if (socket.write(PIECE_CHUNK)) setImmediate(step)
    else socket.once('drain', step)
  }
  if (body.includes(`"${HELD_MODEL}"`)) socket.write(PIECE_CHUNK)
  else setImmediate(step)
}

/** Where the first request of a text ends, and where its body begins; null while it is incomplete. */
function findRequest(text: string): { readonly bodyStart: number; readonly end: number } | null {
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd === -1) return null
  const length = /content-length: ?(\d+)/i.exec(text.slice(0, headEnd))?.[1] ?? 0
  const bodyStart = headEnd + 4
  const end = bodyStart + Number(length)
  return end > text.length ? null : { bodyStart, end }
}

const server = createServer({ noDelay: true }, (socket) => {
  let pending = ''
  socket.on('error', () => socket.destroy())
  socket.on('data', (bytes) => {
    pending += bytes.toString('latin1')
    for (let found = findRequest(pending); found !== null; found = findRequest(pending)) {
      const body = pending.slice(found.bodyStart, found.end)
      pending = pending.slice(found.end)
      if (body.includes('"stream":true')) stream(socket, body)
      else socket.write(WHOLE_ANSWER)
    }
  })
})
server.listen(Number(process.argv[2]), '127.0.0.1')
