/** Makes one response out of the answer of a chat, whole or as events, and keeps it before its end is told. */
import type { ResponseEvent, ResponseWriter } from '../../domain/chat/responses-events.ts'
import { toChunk } from '../../domain/chat/responses-events.ts'
import { ApiError } from '../../errors.ts'
import { renderNamedEvent } from '../../http/stream/sse.ts'
import type { AnswerEnvelope } from '../../inference/chat/answer-envelope.ts'
import { renderChunks } from '../../inference/chat/chunks.ts'
import {
  type CompletionExchange,
  type CompletionRunOptions,
  completeWhole,
  streamCompletion,
} from '../../inference/chat/completion-run.ts'

export interface ResponseRun {
  readonly exchange: CompletionExchange
  readonly run: CompletionRunOptions
  readonly envelope: AnswerEnvelope
  readonly writer: ResponseWriter
  /** Microseconds since the epoch. */
  readonly nowUs: () => number
  /** Stores the response, JSON text; null: it is not kept. */
  readonly keep: ((json: string) => Promise<void>) | null
  /** Told what broke an answer that had begun. */
  readonly noteFailure: (failure: ApiError) => void
}

const CHUNKS = { includeUsage: true, continuousUsage: false } as const

/**
 * The JSON text of a response. What fails is answered with its status and not kept.
 *
 * @throws what completeWhole throws, store_unavailable
 */
export async function answerWholeResponse(job: ResponseRun): Promise<string> {
  const { exchange, run, envelope, writer, nowUs, keep } = job
  try {
    const answer: unknown = JSON.parse(await completeWhole(exchange, run, envelope))
    writer.open()
    writer.add(toChunk(answer as Readonly<Record<string, unknown>>))
    writer.end(toSeconds(nowUs()))
  } catch (error) {
    if (!isCancelled(error)) throw error
    writer.fail('cancelled')
  }
  const json = JSON.stringify(writer.response())
  await keep?.(json)
  return json
}

/**
 * The events of a response, as texts that are whole events. A failure after the first one is an event too, and the
 * response is kept as failed; one whose client has left is not kept.
 *
 * @throws what fails before the first event; store_unavailable
 */
export async function* streamResponse(job: ResponseRun): AsyncGenerator<readonly string[]> {
  const { exchange, run, envelope, writer, nowUs, keep } = job
  let isOpen = false
  let last: ResponseEvent[]
  try {
    for await (const texts of renderChunks(streamCompletion(exchange, run), envelope, CHUNKS)) {
      const events = isOpen ? [] : writer.open()
      isOpen = true
      for (const json of texts) events.push(...writer.add(JSON.parse(json)))
      if (events.length > 0) yield events.map(renderEvent)
    }
    last = [...(isOpen ? [] : writer.open()), ...writer.end(toSeconds(nowUs()))]
  } catch (error) {
    if (!isOpen || isGone(error)) throw error
    last = writer.fail(isCancelled(error) ? 'cancelled' : toFailure(job, error))
  }
  await keep?.(JSON.stringify(writer.response()))
  yield last.map(renderEvent)
}

/** The failure in the words of the OpenAI API, which knows few codes. */
function toFailure({ noteFailure }: ResponseRun, error: unknown) {
  const failure =
    error instanceof ApiError ? error : new ApiError('internal_error', { cause: error })
  noteFailure(failure)
  const isLimit = ['rate_limit_exceeded', 'upstream_rate_limited'].includes(failure.code)
  return { code: isLimit ? 'rate_limit_exceeded' : 'server_error', message: failure.message }
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

function toSeconds(us: number): number {
  return Math.floor(us / 1_000_000)
}
