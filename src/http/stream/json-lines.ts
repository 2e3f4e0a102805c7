/** Streams lines at the reader's pace. Knows nothing about their meaning. */
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

export const JSON_LINES = 'application/jsonl'

/**
 * Streams texts of whole lines. It awaits the first one, so that a failure before it is answered with an error status;
 * later failures close the connection in the middle of the answer.
 *
 * @param texts - each ends in a line break; pulled only when the socket accepts more, and returned when the client
 * disconnects
 * @throws the error of the first text
 */
export async function sendLines(
  reply: FastifyReply,
  texts: AsyncIterable<string>,
  type: string = JSON_LINES,
): Promise<FastifyReply> {
  const iterator = texts[Symbol.asyncIterator]()
  const first = await iterator.next()
  async function* all(): AsyncGenerator<string> {
    try {
      for (let next = first; !next.done; next = await iterator.next()) yield next.value
    } finally {
      await iterator.return?.()
    }
  }
  return reply
    .header('content-type', `${type}; charset=utf-8`)
    .header('x-accel-buffering', 'no')
    .send(Readable.from(all(), { objectMode: true, highWaterMark: 1 }))
}
