/**
 * Child process of bench/relay.ts: the upstream. It works on bare sockets and parses as little as possible, to leave
 * the processors to the relays. It answers at once: a whole answer, a stream with one event per turn of the event loop,
 * or a stream that stays open; in the form of Anthropic's API where that is asked.
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

const MESSAGE_HEAD = '"id":"msg_bench","type":"message","role":"assistant","model":"bench"'
const MESSAGE_USAGE = '"usage":{"input_tokens":200,"output_tokens":90}'
const MESSAGE = `{${MESSAGE_HEAD},"content":[{"type":"text","text":"${TEXT}"}],"stop_reason":"end_turn","stop_sequence":null,${MESSAGE_USAGE}}`

const renderWhole = (body: string) =>
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nkeep-alive: timeout=60\r\n\r\n${body}`
const STREAM_HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\nkeep-alive: timeout=60\r\ntransfer-encoding: chunked\r\n\r\n'

const toChunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
const LAST_CHUNK = toChunk('')

const renderEvent = (type: string, rest: string) =>
  `event: ${type}\ndata: {"type":"${type}"${rest}}\n\n`
const MESSAGE_START =
  renderEvent(
    'message_start',
    `,"message":{${MESSAGE_HEAD},"content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":200,"output_tokens":1}}`,
  ) + renderEvent('content_block_start', ',"index":0,"content_block":{"type":"text","text":""}')
const MESSAGE_END =
  renderEvent('content_block_stop', ',"index":0') +
  renderEvent(
    'message_delta',
    `,"delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":90}`,
  ) +
  renderEvent('message_stop', '')

/** What is sent in one form. */
interface Form {
  readonly whole: string
  readonly start: string
  readonly piece: string
  end(body: string): string
}

const CHAT: Form = {
  whole: renderWhole(WHOLE),
  start: STREAM_HEAD + toChunk(FIRST),
  piece: toChunk(PIECE),
  end: (body) => (body.includes('"include_usage":true') ? END_WITH_USAGE : END),
}
const MESSAGES: Form = {
  whole: renderWhole(MESSAGE),
  start: STREAM_HEAD + toChunk(MESSAGE_START),
  piece: toChunk(
    renderEvent('content_block_delta', ',"index":0,"delta":{"type":"text_delta","text":" word"}'),
  ),
  end: () => MESSAGE_END,
}

function stream(socket: Socket, form: Form, body: string): void {
  socket.write(form.start)
  let left = EVENTS
  const step = () => {
    if (socket.destroyed) return
    if (left === 0) {
      socket.write(toChunk(form.end(body)) + LAST_CHUNK)
      return
    }
    left -= 1
    if (socket.write(form.piece)) setImmediate(step)
    else socket.once('drain', step)
  }
  if (body.includes(`"${HELD_MODEL}"`)) socket.write(form.piece)
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
      const form = pending.startsWith('POST /v1/messages') ? MESSAGES : CHAT
      pending = pending.slice(found.end)
      if (/"stream": ?true/.test(body)) stream(socket, form, body)
      else socket.write(form.whole)
    }
  })
})
server.listen(Number(process.argv[2]), '127.0.0.1')
