/**
 * An upstream for the Python program: the last word of a request says how it answers. Prints its address;
 * `GET /v1/seen` tells what came and which answers are still open.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const USAGE = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }
const TOOL = { name: 'add', arguments: '{"a":1,"b":2}' }
const HEAD = { id: 'chatcmpl-up', created: 1, model: 'up' }
/** How often each word came. */
const counts = new Map<string, number>()
let openCount = 0

interface Asked {
  readonly stream?: boolean
  readonly messages: readonly { readonly content: string }[]
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function sendWhole(response: ServerResponse, message: object, finishReason: string): void {
  const choice = {
    index: 0,
    message: { role: 'assistant', ...message },
    finish_reason: finishReason,
  }
  const body = { ...HEAD, object: 'chat.completion', choices: [choice], usage: USAGE }
  sendJson(response, 200, body)
}

function writeChunk(response: ServerResponse, choices: object[], more: object = {}): void {
  const chunk = { ...HEAD, object: 'chat.completion.chunk', choices, ...more }
  response.write(`data: ${JSON.stringify(chunk)}\n\n`)
}

function writeDelta(response: ServerResponse, delta: object, finishReason: string | null = null) {
  writeChunk(response, [{ index: 0, delta, finish_reason: finishReason }])
}

function endStream(response: ServerResponse, finishReason: string): void {
  writeDelta(response, {}, finishReason)
  writeChunk(response, [], { usage: USAGE })
  response.end('data: [DONE]\n\n')
}

function sendText(response: ServerResponse, isStream: boolean, text: string): void {
  if (!isStream) {
    sendWhole(response, { content: text }, 'stop')
    return
  }
  for (const character of text) writeDelta(response, { content: character })
  endStream(response, 'stop')
}

function sendTool(response: ServerResponse, isStream: boolean): void {
  const call = { id: 't-1', type: 'function' }
  if (!isStream) {
    sendWhole(response, { content: null, tool_calls: [{ ...call, function: TOOL }] }, 'tool_calls')
    return
  }
  const opened = { ...call, index: 0, function: { name: TOOL.name, arguments: '' } }
  writeDelta(response, { role: 'assistant', tool_calls: [opened] })
  for (const character of TOOL.arguments) {
    writeDelta(response, { tool_calls: [{ index: 0, function: { arguments: character } }] })
  }
  endStream(response, 'tool_calls')
}

function answer(response: ServerResponse, { stream = false, messages }: Asked): void {
  const word = messages.at(-1)?.content ?? ''
  const count = (counts.get(word) ?? 0) + 1
  counts.set(word, count)
  const refusal = word === 'flaky' && count > 1 ? undefined : REFUSALS[word]
  if (word === 'slow') return
  if (refusal !== undefined) {
    sendJson(response, refusal.status, refusal.body)
    return
  }
  if (stream) response.writeHead(200, { 'content-type': 'text/event-stream' })
  if (word === 'hang' || word === 'cut') {
    writeDelta(response, { content: 'a' })
    if (word === 'cut') setTimeout(() => response.destroy(), 50)
    return
  }
  if (word === 'tool') sendTool(response, stream)
  else sendText(response, stream, textFor(word))
}

function textFor(word: string): string {
  if (word === 'json') return '{"name":"Ada"}'
  // Agents that are told by their prompt how to answer, as those of crewai are, ask again for anything else.
  return word.endsWith('Thought:') ? 'I know it.\nFinal Answer: 7' : 'Hello'
}

/** Errors by word; `flaky` fails only the first time. */
const REFUSALS: Readonly<Record<string, { readonly status: number; readonly body: object }>> = {
  down: { status: 503, body: { error: { message: 'away' } } },
  flaky: { status: 500, body: {} },
  wrong: { status: 400, body: { error: { message: 'top_k is odd', param: 'top_k' } } },
}

const server = createServer(async (request, response) => {
  if (request.url === '/v1/seen') {
    sendJson(response, 200, { open: openCount, counts: Object.fromEntries(counts) })
    return
  }
  if (request.url === '/v1/models') {
    sendJson(response, 200, { data: [{ id: 'up', max_model_len: 4096 }] })
    return
  }
  openCount += 1
  response.once('close', () => {
    openCount -= 1
  })
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  answer(response, JSON.parse(Buffer.concat(pieces).toString('utf8')))
})

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  process.stdout.write(`http://127.0.0.1:${port}/v1\n`)
})
