/**
 * An engine for the fuzzer with short immediate answers to all kinds of requests, since the fuzzer tests this server and
 * not a model. Writes a models file with its address (argument) and prints a line when it listens.
 */
import { writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CAPABILITIES } from '../../src/inference/backend.ts'

const USAGE = { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 }
const HEAD = { id: 'up-1', created: 1, model: 'up' }
const CHOICE = { index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }
const TEXT = { index: 0, text: 'Hi', logprobs: null, finish_reason: 'stop' }
const SAID = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Hi', annotations: [] }],
}
const RESPONSE = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'up',
  output: [SAID],
  usage: { input_tokens: 2, output_tokens: 1, total_tokens: 3 },
}
const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'up',
  content: [{ type: 'text', text: 'Hi' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 2, output_tokens: 1 },
}
const MESSAGE_EVENTS = [
  { type: 'message_start', message: { ...MESSAGE, content: [], stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
  { type: 'message_stop' },
]

const ANSWERS: Readonly<Record<string, unknown>> = {
  '/v1/models': { object: 'list', data: [] },
  '/v1/chat/completions': { ...HEAD, object: 'chat.completion', choices: [CHOICE], usage: USAGE },
  '/v1/completions': { ...HEAD, object: 'text_completion', choices: [TEXT], usage: USAGE },
  '/v1/embeddings': {
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: [1, 0] }],
    model: 'up',
    usage: USAGE,
  },
  '/v1/responses': RESPONSE,
  '/v1/messages': MESSAGE,
  '/v1/messages/count_tokens': { input_tokens: 2 },
  '/v1/moderations': { id: 'modr-1', model: 'up', results: [{ flagged: false }] },
  '/v1/images/generations': { created: 1, data: [{ b64_json: 'AA==' }] },
  '/v1/images/edits': { created: 1, data: [{ b64_json: 'AA==' }] },
  '/v1/images/variations': { created: 1, data: [{ b64_json: 'AA==' }] },
  '/v1/audio/transcriptions': { text: 'Hi' },
  '/v1/audio/translations': { text: 'Hi' },
  '/tokenize': { count: 1, max_model_len: 64, tokens: [1] },
  '/detokenize': { prompt: 'Hi' },
}

/** The events of a streamed answer; choices end as many as were asked for. */
const STREAMS: Readonly<Record<string, (asked: Asked) => unknown[]>> = {
  '/v1/chat/completions': ({ n }) => [
    { ...HEAD, object: 'chat.completion.chunk', choices: each(n, CHOICE.message), usage: USAGE },
  ],
  '/v1/completions': ({ n, prompt }) => [
    {
      ...HEAD,
      object: 'text_completion',
      usage: USAGE,
      choices: each((n ?? 1) * countPrompts(prompt), {}).map((choice) => ({
        ...choice,
        text: 'Hi',
      })),
    },
  ],
  '/v1/responses': () => [{ type: 'response.completed', sequence_number: 0, response: RESPONSE }],
  '/v1/messages': () => MESSAGE_EVENTS,
}

interface Asked {
  readonly stream?: boolean
  readonly n?: number | null
  readonly prompt?: unknown
}

function each(count: number | null | undefined, delta: object) {
  return Array.from({ length: count ?? 1 }, (_, index) => ({ index, delta, finish_reason: 'stop' }))
}

function countPrompts(prompt: unknown): number {
  return Array.isArray(prompt) && typeof prompt[0] !== 'number' ? prompt.length : 1
}

function answer(response: ServerResponse, path: string, asked: Asked): void {
  const events = asked.stream === true ? STREAMS[path]?.(asked) : undefined
  if (path === '/v1/audio/speech') {
    response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(Buffer.from([255, 251]))
  } else if (events !== undefined) {
    const lines = events.map((one) => JSON.stringify(one))
    if (path !== '/v1/messages') lines.push('[DONE]')
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(lines.map((line) => `data: ${line}\n\n`).join(''))
  } else {
    const body = ANSWERS[path]
    const status = body === undefined ? 404 : 200
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body ?? { error: { message: 'no such address' } }))
  }
}

function parse(text: string): Asked {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const path = request.url?.split('?')[0] ?? ''
  answer(response, path, parse(Buffer.concat(chunks).toString('utf8')))
})
server.listen(0, '127.0.0.1', () => {
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  const model = {
    id: 'fuzzed',
    backend: 'openai',
    base_url,
    capabilities: CAPABILITIES,
    tools: true,
  }
  writeFileSync(process.argv[2] as string, JSON.stringify({ models: [model] }))
  process.stdout.write('listens\n')
})
