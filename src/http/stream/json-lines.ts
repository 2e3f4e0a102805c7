/** Answers of lines, streamed at the reader's pace. Knows nothing of what the lines mean. */
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

export const JSON_LINES = 'application/jsonl'

/**
 * Answers texts of whole lines. The first is waited for, so that what fails before it is answered as an
 * error with a status; later failures end the connection in the middle of the answer.
 *
 * @param texts - each ends in a line break; asked for only when the socket takes more, and returned when
 * the client leaves
 * @throws what the first text fails with
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
