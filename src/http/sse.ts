/** Server-sent events out of JSON texts. Knows nothing of what the texts mean. */
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

/** One event of a JSON text; line breaks inside would end the event, so they are escaped by JSON. */
export function renderEvent(json: string): string {
  return `data: ${json}\n\n`
}

/** The last event of a completion stream. Spec: §4.3 (chunk format not shown). */
export const DONE_EVENT = 'data: [DONE]\n\n'

/**
 * Answers a stream of events. The reader's pace is kept: the source is asked for the next event only
 * when the socket takes it.
 *
 * @param events - rendered events; its `return` is called when the client leaves
 */
export function sendEvents(reply: FastifyReply, events: AsyncIterable<string>): FastifyReply {
  return reply
    .header('content-type', 'text/event-stream; charset=utf-8')
    .header('cache-control', 'no-cache, no-transform')
    .header('x-accel-buffering', 'no')
    .send(Readable.from(events, { objectMode: true, highWaterMark: 1 }))
}
