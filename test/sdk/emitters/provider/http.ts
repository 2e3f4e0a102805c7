/** What the protocols of the provider share of HTTP. */
import type { ServerResponse } from 'node:http'

export type Json = Record<string, unknown>

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** @param isNamed - whether events have their type as a name, too */
export function sendEvents(
  response: ServerResponse,
  events: readonly (Json | string)[],
  isNamed = false,
): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of events) {
    if (typeof event === 'string') response.write(`data: ${event}\n\n`)
    else
      response.write(`${isNamed ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
  }
  response.end()
}

/** All texts of a content, whichever protocol wrote it. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part) => (part as Json)?.text ?? '').join('')
}
