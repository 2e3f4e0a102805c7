/**
 * A provider of models for programs that are traced. Prints its address. It speaks OpenAI's chat completions,
 * responses and embeddings, Anthropic's messages, Gemini's generateContent, Bedrock's converse and Ollama's chat;
 * `GET /ledger` says what it has answered, `DELETE /ledger` begins it anew.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ledger } from './answers.ts'
import { type Json, sendJson } from './http.ts'
import { chat, embeddings, responses } from './openai.ts'
import { anthropic, bedrock, gemini, ollama } from './others.ts'

const ROUTES: readonly (readonly [
  RegExp,
  (response: ServerResponse, body: Json, path: string) => void,
])[] = [
  [/\/chat\/completions$/, chat],
  [/\/responses$/, responses],
  [/\/embeddings$/, embeddings],
  [/\/messages$/, anthropic],
  [/\/models\/[^/]+:(?:stream)?generateContent$/i, gemini],
  [/\/converse$/, bedrock],
  [/\/api\/chat$/, ollama],
]

async function bodyOf(request: IncomingMessage): Promise<Json> {
  let text = ''
  for await (const piece of request) text += piece
  return text === '' ? {} : JSON.parse(text)
}

const server = createServer(async (request, response) => {
  const path = (request.url ?? '').split('?')[0] ?? ''
  if (path === '/ledger') {
    if (request.method === 'DELETE') ledger.length = 0
    return sendJson(response, 200, ledger)
  }
  const body = await bodyOf(request)
  const route = ROUTES.find(([pattern]) => pattern.test(path))
  if (route) return route[1](response, body, path)
  return sendJson(response, 404, { error: { message: `there is no ${path}` } })
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
