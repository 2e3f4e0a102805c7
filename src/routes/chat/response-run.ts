/** Answers one response, whole or as events, and stores it before its end is sent. */
import { parseWithArgumentTexts } from '../../domain/chat/engine-dialects.ts'
import { toChunk } from '../../domain/chat/message-deltas.ts'
import type { ResponseBody } from '../../domain/chat/responses/response-state.ts'
import type { ResponseEvent, ResponseWriter } from '../../domain/chat/responses/responses-events.ts'
import { exceedsDepth, JSON_DEPTH_MAX } from '../../domain/json/json-limits.ts'
import type { Clock } from '../../domain/time/clock.ts'
import { ApiError } from '../../errors.ts'
import { renderNamedEvent } from '../../http/stream/sse.ts'
import { renderChunks } from '../../inference/chat/chunks.ts'
import {
  type ChatExchange,
  type CompletionRunOptions,
  completeWhole,
  streamCompletion,
} from '../../inference/chat/completion-run.ts'
import type { ResponseEnvelope } from '../../inference/chat/whole-completion.ts'

/** How a response is produced: from a chat, or by an engine. */
export interface ResponseMaker {
  /** Produces it whole. @throws the error of the model */
  whole(): Promise<void>
  /** Its events, each text a whole event, without the final ones. @throws the error of the model */
  events(): AsyncGenerator<readonly string[]>
  /** Begins a response that failed before `events` gave anything. @returns its first events */
  open(): readonly string[]
  /** The final events. */
  end(): readonly string[]
  /** The final events after a failure or a cancellation. */
  fail(error: { readonly code: string; readonly message: string } | 'cancelled'): readonly string[]
  /** Its current state. */
  response(): ResponseBody
  /** The same as JSON text. */
  json(): string
}

export interface ResponseRun {
  readonly maker: ResponseMaker
  /** Stores the response as JSON text; null: it is not stored. */
  readonly keep: ((json: string) => Promise<void>) | null
  /** Whether a failure can only be an event, since the status was sent. */
  readonly isStatusSent: () => boolean
  /** Called with the error that broke an answer whose status was sent. */
  readonly noteFailure: (failure: ApiError) => void
}

/**
 * Returns the JSON text of a response. A failed one is answered with its error and not stored.
 *
 * @throws what its production throws, store_unavailable
 */
export async function renderWholeResponse({ maker, keep }: ResponseRun): Promise<string> {
  try {
    await maker.whole()
  } catch (error) {
    // What is recorded has this state, too.
    maker.fail(toEnd(error))
    if (!isCancelled(error)) throw error
  }
  const json = maker.json()
  await keep?.(json)
  return json
}

/**
 * Yields the events of a response as texts. A failure after the status is an event, too, and the
 * response is stored as failed; one whose client has disconnected is cancelled and not stored.
 *
 * @throws what fails before the status; store_unavailable
 *
 * Spec: §4 (responses are an addition).
 * Choice: a client that disconnects cancels its response, as with the vendor. A stream begins with
 * `response.created` even if nothing but a failure follows: helpers of client libraries throw otherwise.
 */
export async function* streamResponse(job: ResponseRun): AsyncGenerator<readonly string[]> {
  const { maker, keep } = job
  let isOpen = false
  let last: readonly string[] | null = null
  try {
    for await (const events of maker.events()) {
      isOpen = true
      if (events.length > 0) yield events
    }
    last = maker.end()
  } catch (error) {
    const first = isOpen ? [] : maker.open()
    last = maker.fail(toEnd(error))
    if (isGone(error) || !(isOpen || job.isStatusSent())) throw error
    if (first.length > 0) yield first
    if (!isCancelled(error)) job.noteFailure(toApiError(error))
  } finally {
    // Nobody reads further.
    if (last === null) maker.fail('cancelled')
  }
  await keep?.(maker.json())
  yield last
}

interface ChatSource {
  readonly exchange: ChatExchange
  readonly run: CompletionRunOptions
  readonly envelope: ResponseEnvelope
  readonly writer: ResponseWriter
  readonly nowUs: Clock['nowUs']
}

type Fields = Readonly<Record<string, unknown>>

const CHUNKS = { includeUsage: true, continuousUsage: false } as const

/** Builds a response from the answer of a chat. */
export function createChatMaker(source: ChatSource): ResponseMaker {
  const { exchange, run, envelope, writer, nowUs } = source
  let isOpen = false
  /** Events that were not given yet. */
  let waiting: ResponseEvent[] = []

  function open(): void {
    if (!isOpen) waiting.push(...writer.open())
    isOpen = true
  }

  function give(more: readonly ResponseEvent[] = []): string[] {
    const given = [...waiting, ...more]
    waiting = []
    return given.map(renderEvent)
  }

  return {
    async whole() {
      const answer = parseCompletion(await completeWhole(exchange, run, envelope))
      writer.open()
      writer.add(toChunk(answer))
      writer.end(toSeconds(nowUs()))
    },
    async *events() {
      const deltas = streamCompletion(exchange, run, envelope)
      for await (const texts of renderChunks(deltas, envelope, CHUNKS)) {
        open()
        for (const json of texts) waiting.push(...writer.add(parseCompletion(json)))
        yield give()
      }
    },
    open() {
      open()
      return give()
    },
    end() {
      open()
      return give(writer.end(toSeconds(nowUs())))
    },
    fail: (error) => give(writer.fail(error)),
    response: writer.response,
    json: () => JSON.stringify(writer.response()),
  }
}

/** @throws ApiError upstream_invalid_response for an answer that nests too deeply to be written again */
export function parseCompletion(json: string): Fields {
  if (exceedsDepth(json, JSON_DEPTH_MAX)) throw new ApiError('upstream_invalid_response')
  return parseWithArgumentTexts(json) as Fields
}

/** Returns how an error ends a response; errors have the few codes of the OpenAI API. */
function toEnd(error: unknown): Parameters<ResponseMaker['fail']>[0] {
  if (isCancelled(error) || isGone(error)) return 'cancelled'
  const { code, message } = toApiError(error)
  const isLimit = ['rate_limit_exceeded', 'upstream_rate_limited'].includes(code)
  return { code: isLimit ? 'rate_limit_exceeded' : 'server_error', message }
}

function toApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError('internal_error', { cause: error })
}

function isCancelled(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'response_cancelled'
}

function isGone(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'client_closed_request'
}

function renderEvent(event: ResponseEvent): string {
  return renderNamedEvent(event.type, JSON.stringify(event))
}

/** An event of an engine; it has line breaks only between JSON tokens. */
export function renderTyped(type: string, json: string): string {
  return renderNamedEvent(type, json.replace(/[\r\n]+/g, ' '))
}

function toSeconds(us: number): number {
  return Math.floor(us / 1_000_000)
}
