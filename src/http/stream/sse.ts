/** Renders JSON texts as server-sent events, whatever they mean. */
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

/** Returns one event with a JSON text. Line breaks between its tokens start further data lines of the same event. */
export function renderEvent(json: string): string {
  if (!/[\r\n]/.test(json)) return `data: ${json}\n\n`
  const lines = json.split(/\r\n|\r|\n/)
  return `${lines.map((line) => `data: ${line}\n`).join('')}\n`
}

function renderEvents(texts: readonly string[], render: Framing['render']): string {
  let events = ''
  for (const text of texts) events += render(text)
  return events
}

/** The last event of a completion stream. Spec: §4.3 (chunk format not shown). */
export const DONE_EVENT = 'data: [DONE]\n\n'

/** A comment: readers ignore it, and proxies see that the stream is alive. */
export const KEEP_ALIVE = ': keep-alive\n\n'

/** Rendering of texts as events, and the final event. */
export interface Framing {
  readonly render: (text: string) => string
  readonly end: string
  /** Sent as a keep-alive while no text is available; null: nothing. Default: a comment. */
  readonly keepAlive?: string | null
  /** Content type. Default: events. */
  readonly type?: string
}

const UNNAMED_EVENTS: Framing = { render: renderEvent, end: DONE_EVENT }

/** Returns a named event with a JSON text without line breaks. */
export function renderNamedEvent(name: string, json: string): string {
  return `event: ${name}\ndata: ${json}\n\n`
}

/** Framing for texts that are whole events and include the final one. */
export const WHOLE_EVENTS: Framing = { render: (event) => event, end: '' }

interface EventStreamOptions {
  /** Default: events without a name, and `[DONE]`. */
  readonly framing?: Framing
  /** The first result of `texts.next()`; may still be pending. */
  readonly first: Promise<IteratorResult<readonly string[]>>
  /** Whether to send a comment first, so that the headers are sent before the first text. */
  readonly opensWithComment: boolean
  /** Idle time after which a keep-alive is sent, in milliseconds. */
  readonly keepAliveMs: number
  /** Called when the texts failed: returns the JSON text of the error event, or null when the client has left. */
  readonly renderFailure: (error: unknown) => string | null
}

/** Limit: buffered bytes above which no further text is pulled. */
const WAITING_BYTES_MAX = 16 * 1024

/**
 * Returns the whole stream: an event per text, comments while there is none, an error event if the texts fail, and
 * `[DONE]` at the end in either case. Texts that are available together are written together; more are pulled only when
 * the reader wants more. Destroying the stream does not end the texts; their producer does.
 *
 * Spec: §4.3 stream (chunk format not shown).
 * Choice: a failure is an event `{"error": …}`, which client libraries throw, and then `[DONE]`.
 */
export function createEventStream(
  texts: AsyncIterator<readonly string[]>,
  { first, opensWithComment, keepAliveMs, renderFailure, framing }: EventStreamOptions,
): Readable {
  const { render, end, keepAlive = KEEP_ALIVE } = framing ?? UNNAMED_EVENTS
  let next: Promise<IteratorResult<readonly string[]>> | null = first
  let isPumping = false

  async function pump(): Promise<void> {
    isPumping = true
    let wantsMore = true
    try {
      while (wantsMore) {
        next ??= texts.next()
        const result = await next
        next = null
        // One timer is rescheduled for each event: a new timer would cost more than the event.
        silence.refresh()
        if (result.done) return finish(end)
        wantsMore = stream.push(renderEvents(result.value, render))
      }
    } catch (error) {
      const json = renderFailure(error)
      finish(json === null ? '' : render(json) + end)
    } finally {
      isPumping = false
    }
  }

  function finish(text: string): void {
    clearTimeout(silence)
    if (text !== '') stream.push(text)
    stream.push(null)
  }

  const stream = new Readable({
    highWaterMark: WAITING_BYTES_MAX,
    read() {
      if (!isPumping) void pump()
    },
    destroy(error, callback) {
      clearTimeout(silence)
      callback(error)
    },
  })
  const silence = setTimeout(() => {
    // A slow reader needs no keep-alive.
    if (isPumping && stream.readableLength === 0 && keepAlive !== null) stream.push(keepAlive)
    silence.refresh()
  }, keepAliveMs)
  if (opensWithComment && keepAlive !== null) stream.push(keepAlive)
  return stream
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

const EVENTS = 'text/event-stream; charset=utf-8'

/** Sends a stream of events, which is destroyed when the client disconnects. */
export function sendEvents(reply: FastifyReply, events: Readable, type = EVENTS): FastifyReply {
  return reply
    .header('content-type', type)
    .header('cache-control', 'no-cache, no-transform')
    .header('x-accel-buffering', 'no')
    .send(events)
}
