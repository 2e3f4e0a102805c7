/** Streams lines at the reader's pace. Knows nothing about their meaning. */
import { once } from 'node:events'
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

export const JSON_LINES = 'application/jsonl'

/**
 * Streams texts of whole lines. It awaits the first one, so that an earlier failure becomes an error status; a later
 * failure closes the connection in the middle of the response.
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
  const lines = Readable.from(texts, { highWaterMark: 1 })
  // The status is sent with the first text, or when there is none.
  await once(lines, 'readable')
  return reply
    .header('content-type', `${type}; charset=utf-8`)
    .header('x-accel-buffering', 'no')
    .send(lines)
}

/** Limit: lines of one text. */
const TEXT_LINES = 100

/** Yields one line of JSON for each item of a list in memory, in groups. */
export async function* renderLines<Item>(
  items: readonly Item[],
  render: (item: Item) => object,
): AsyncGenerator<string> {
  for (let at = 0; at < items.length; at += TEXT_LINES) {
    const some = items.slice(at, at + TEXT_LINES)
    yield some.map((item) => `${JSON.stringify(render(item))}\n`).join('')
  }
}

/**
 * Yields the text of a JSON object that ends in a list. @param opening - what is before its first entry, as
 * `{"rows":[`
 */
export async function* renderList(
  opening: string,
  groups: AsyncIterable<readonly string[]>,
): AsyncGenerator<string> {
  let before = opening
  for await (const entries of groups) {
    if (entries.length === 0) continue
    yield before + entries.join(',')
    before = ','
  }
  yield before === ',' ? ']}' : `${opening}]}`
}
