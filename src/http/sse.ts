/** Server-sent events out of JSON texts. Knows nothing of what the texts mean. */
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

/** One event of a JSON text. Line breaks between its tokens become data lines of the same event. */
export function renderEvent(json: string): string {
  if (!/[\r\n]/.test(json)) return `data: ${json}\n\n`
  const lines = json.split(/\r\n|\r|\n/)
  return `${lines.map((line) => `data: ${line}\n`).join('')}\n`
}

/** The last event of a completion stream. Spec: §4.3 (chunk format not shown). */
export const DONE_EVENT = 'data: [DONE]\n\n'

/** A comment: readers drop it, and proxies see that the stream lives. */
export const KEEP_ALIVE = ': keep-alive\n\n'

export interface EventStreamOptions {
  /** What `texts.next()` gave; it may still be pending. */
  readonly first: Promise<IteratorResult<string>>
  /** Whether a comment comes first, so that headers leave before the first text. */
  readonly opensWithComment: boolean
  /** Silence after which a comment is sent, in milliseconds. */
  readonly keepAliveMs: number
  /** The texts failed: the JSON text of the error event, or null when nobody is there to read it. */
  readonly renderFailure: (error: unknown) => string | null
}

/**
 * The whole of a stream: an event per text, comments while none comes, an error event if the texts
 * fail, `[DONE]` at the end of either. The next text is asked for only when the reader wants more.
 * Leaving it does not leave the texts: whoever made them returns them.
 *
 * Spec: §4.3 stream (chunk format not shown).
 * Choice: a failure is an event `{"error": …}`, which client libraries throw, and then `[DONE]`.
 */
export async function* renderEventStream(
  texts: AsyncIterator<string>,
  { first, opensWithComment, keepAliveMs, renderFailure }: EventStreamOptions,
): AsyncGenerator<string> {
  let next = first
  if (opensWithComment) yield KEEP_ALIVE
  try {
    while (true) {
      const isSilent = !(await settlesWithin(next, keepAliveMs))
      if (isSilent) {
        yield KEEP_ALIVE
        continue
      }
      const result = await next
      if (result.done) break
      yield renderEvent(result.value)
      next = texts.next()
    }
  } catch (error) {
    const json = renderFailure(error)
    if (json === null) return
    yield renderEvent(json)
  }
  yield DONE_EVENT
}

/**
 * Whether a promise is fulfilled within a time.
 *
 * @throws what the promise rejects with, within the time
 */
export function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(false), ms)
    promise.then(() => resolve(true), reject).finally(() => clearTimeout(timer))
  })
}

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
