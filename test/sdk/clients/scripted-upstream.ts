/**
 * An OpenAI-compatible server for command lines of agents: with a tool `Write` it writes the file named in TARGET, then it
 * says `pong`. Prints its port, and appends each request to REQUESTS.
 */
import { appendFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const { TARGET = '', REQUESTS = '' } = process.env
const USAGE = {
  prompt_tokens: 100,
  completion_tokens: 9,
  total_tokens: 109,
  prompt_tokens_details: { cached_tokens: 40 },
}

interface Chat {
  readonly stream?: boolean
  readonly messages: readonly { readonly role: string }[]
  readonly tools?: readonly { readonly function: { readonly name: string } }[]
}

function toMessage({ messages, tools = [] }: Chat) {
  const isDone = messages.some(({ role }) => role === 'tool')
  if (isDone || !tools.some((tool) => tool.function.name === 'Write')) {
    return { message: { content: 'pong' }, finish_reason: 'stop' }
  }
  const input = JSON.stringify({ file_path: TARGET, content: 'pong\n' })
  const call = {
    index: 0,
    id: 'call_1',
    type: 'function',
    function: { name: 'Write', arguments: input },
  }
  return { message: { content: null, tool_calls: [call] }, finish_reason: 'tool_calls' }
}

function send(response: ServerResponse, chat: Chat): void {
  const { message, finish_reason } = toMessage(chat)
  const head = { id: 'c', created: 1, model: 'm' }
  if (chat.stream !== true) {
    const choice = { index: 0, message: { role: 'assistant', ...message }, finish_reason }
    const whole = { ...head, object: 'chat.completion', choices: [choice], usage: USAGE }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(whole))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const chunks = [
    { choices: [{ index: 0, delta: message, finish_reason: null }] },
    { choices: [{ index: 0, delta: {}, finish_reason }] },
    { choices: [], usage: USAGE },
  ]
  for (const chunk of chunks) {
    const json = JSON.stringify({ ...head, object: 'chat.completion.chunk', ...chunk })
    response.write(`data: ${json}\n\n`)
  }
  response.end('data: [DONE]\n\n')
}

const server = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  appendFileSync(REQUESTS, `${body}\n`)
  if (request.url?.endsWith('/chat/completions')) send(response, JSON.parse(body))
  else response.writeHead(404).end('{}')
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`)
})
