/**
 * A server for command lines of agents, with the protocols of OpenAI's chats and Anthropic's messages: it has the file
 * TARGET written with the text `pong` by the client's tool, or as an edit in the text of a client without tools, then it
 * says `pong`. Prints its port, and appends each request to REQUESTS as a line of its path, a tab and its body.
 */
import { appendFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename } from 'node:path'

const { TARGET = '', REQUESTS = '' } = process.env

interface Body {
  readonly stream?: boolean
  readonly system?: unknown
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[]
  readonly tools?: readonly Tool[]
}

interface Tool {
  readonly name?: string
  readonly function?: { readonly name: string }
}

/** What the model says: a text, or a call of a tool. */
type Turn = { readonly text: string } | { readonly name: string; readonly input: object }

/** Tools of the clients that write a file. */
const WRITES: Readonly<Record<string, object>> = {
  Write: { file_path: TARGET, filepath: TARGET, content: 'pong\n' },
  write: { filePath: TARGET, path: TARGET, content: 'pong\n' },
  save: { path: TARGET, content: 'pong\n' },
  write_file: { file_path: TARGET, content: 'pong\n' },
  exec_command: { cmd: `printf 'pong\\n' > '${TARGET}'` },
  shell_command: { command: `printf 'pong\\n' > '${TARGET}'` },
}

/** An edit of aider's, which has no tools. */
const EDIT = [
  '```',
  basename(TARGET),
  '<<<<<<< SEARCH',
  '=======',
  'pong',
  '>>>>>>> REPLACE',
  '```',
]

function toTurn({ system, messages, tools = [] }: Body): Turn {
  const isDone = messages.some(({ role, content }) => {
    return role === 'tool' || JSON.stringify(content ?? '').includes('"tool_result"')
  })
  const names = tools.map((tool) => tool.function?.name ?? tool.name ?? '')
  const name = names.find((one) => Object.hasOwn(WRITES, one))
  if (!isDone && name !== undefined) return { name, input: WRITES[name] ?? {} }
  const isEdit = JSON.stringify([system, messages]).includes('>>>>>>> REPLACE')
  return { text: isEdit ? EDIT.join('\n') : 'pong' }
}

function sendEvents(response: ServerResponse, events: readonly string[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of events) response.write(`${event}\n\n`)
  response.end()
}

function sendJson(response: ServerResponse, value: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

function sendChat(response: ServerResponse, body: Body): void {
  const turn = toTurn(body)
  const call = (input: string, name: string) => ({
    index: 0,
    id: 'call_1',
    type: 'function',
    function: { name, arguments: input },
  })
  const [message, finish_reason] =
    'text' in turn
      ? [{ content: turn.text }, 'stop']
      : [{ content: null, tool_calls: [call(JSON.stringify(turn.input), turn.name)] }, 'tool_calls']
  const usage = {
    prompt_tokens: 100,
    completion_tokens: 9,
    total_tokens: 109,
    prompt_tokens_details: { cached_tokens: 40 },
  }
  const head = { id: 'c', created: 1, model: 'm' }
  if (body.stream !== true) {
    const choice = { index: 0, message: { role: 'assistant', ...message }, finish_reason }
    sendJson(response, { ...head, object: 'chat.completion', choices: [choice], usage })
    return
  }
  const chunks = [
    { choices: [{ index: 0, delta: message, finish_reason: null }] },
    { choices: [{ index: 0, delta: {}, finish_reason }] },
    { choices: [], usage },
  ].map((chunk) => JSON.stringify({ ...head, object: 'chat.completion.chunk', ...chunk }))
  sendEvents(
    response,
    [...chunks, '[DONE]'].map((data) => `data: ${data}`),
  )
}

function sendMessage(response: ServerResponse, body: Body): void {
  const turn = toTurn(body)
  const [block, delta, stop_reason] =
    'text' in turn
      ? [{ type: 'text', text: '' }, { type: 'text_delta', text: turn.text }, 'end_turn']
      : [
          { type: 'tool_use', id: 'toolu_1', name: turn.name, input: {} },
          { type: 'input_json_delta', partial_json: JSON.stringify(turn.input) },
          'tool_use',
        ]
  const usage = { input_tokens: 60, cache_read_input_tokens: 40, output_tokens: 9 }
  const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_sequence: null }
  if (body.stream !== true) {
    const whole = { ...block, ...turn, type: block.type }
    sendJson(response, { ...head, content: [whole], stop_reason, usage })
    return
  }
  const message = { ...head, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } }
  const events = [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ]
  sendEvents(
    response,
    events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}`),
  )
}

const server = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  appendFileSync(REQUESTS, `${request.url}\t${body.replaceAll('\n', '')}\n`)
  const path = request.url?.replace(/\?.*/, '') ?? ''
  if (path.endsWith('/chat/completions')) sendChat(response, JSON.parse(body))
  else if (path.endsWith('/messages')) sendMessage(response, JSON.parse(body))
  else response.writeHead(404).end('{}')
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`)
})
