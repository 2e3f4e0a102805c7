/**
 * What an answer with a success status holds: a whole completion or a stream of events, as text that is
 * never rebuilt. A broken answer never looks like a whole one.
 */
import { ApiError } from '../../errors.ts'
import type { RelayedDelta, RelayedText, Service } from '../backend.ts'
import type { EventRules } from './event-rules.ts'
import { createSseDecoder } from './sse-decoder.ts'
import { readBytes, type UpstreamAnswer } from './upstream/client.ts'
import { parseObject, toEventError } from './upstream/errors.ts'
import type { Pieces } from './upstream/exchange.ts'

/** Limits of what is read of an answer, in bytes. */
const BODY_BYTES_MAX = 64 * 1024 * 1024
const ERROR_BODY_BYTES_MAX = 64 * 1024

/** The start of the body of an answer that is no success, as text. */
export async function readErrorText(answer: UpstreamAnswer): Promise<string> {
  return (await readText(answer, ERROR_BODY_BYTES_MAX)).text
}

/**
 * The body of a completion that is not streamed, as it came.
 *
 * @param host - of the upstream, kept out of messages
 * @throws ApiError of an error in it; upstream_invalid_response when it is not a completion, or too large
 */
export function readCompletion(answer: UpstreamAnswer, host: string): Promise<RelayedDelta> {
  return readWhole(answer, host, 'choices')
}

/** The member that tells an answer of a service from anything else; the first that is there. */
const MARKS: Readonly<Record<Service, readonly string[]>> = {
  completions: ['choices'],
  embeddings: ['data'],
  moderations: ['results'],
  images: ['data'],
  tokenize: ['tokens'],
  detokenize: ['prompt', 'content', 'text'],
  responses: ['output'],
  image_edits: ['data'],
  image_variations: ['data'],
  // It comes as audio.
  speech: [],
  transcriptions: ['text'],
  translations: ['text'],
}

/** The same for requests other than chats. */
export function readAnswerOf(service: Service) {
  return (answer: UpstreamAnswer, host: string): Promise<RelayedDelta> =>
    readWhole(answer, host, ...MARKS[service])
}

/** @param marks - one of these members must be a list or text, else it is no such answer */
async function readWhole(
  answer: UpstreamAnswer,
  host: string,
  ...marks: readonly string[]
): Promise<RelayedDelta> {
  const { text, isWhole } = await readText(answer, BODY_BYTES_MAX)
  if (!isWhole) {
    throw new ApiError('upstream_invalid_response', {
      message: 'The upstream sent an answer that is too large.',
    })
  }
  const body = parseObject(text)
  if (body?.error) throw toEventError(body.error, host, Date.now())
  const isSound = marks.some(
    (mark) => Array.isArray(body?.[mark]) || typeof body?.[mark] === 'string',
  )
  if (body === null || !isSound) throw new ApiError('upstream_invalid_response')
  return { type: 'relayed', texts: [{ json: text, value: body }] }
}

/** The events of a streamed answer. */
interface EventReader {
  /**
   * The data of the events that came since the last read, unchanged and at least one, or null behind the last
   * one. One read at a time.
   *
   * @throws ApiError of an error event; upstream_invalid_response when it is not a stream of JSON objects;
   * upstream_error for a stream that breaks off. All events before the fault have been read by then
   */
  next(): Promise<readonly RelayedText[] | null>
}

/**
 * Reads events up to `[DONE]`. A stream may end without `[DONE]` once its answer is whole.
 *
 * Spec: §4.3 (chunk format not shown).
 * Choice: one event that is no JSON ends the stream as an error; to skip it would lose text unseen.
 */
export function createEventReader(
  answer: UpstreamAnswer,
  host: string,
  rules: EventRules,
): EventReader {
  const decoder = createSseDecoder()
  let isBegun = false
  /** How the stream ended, with null for an error where it came whole; told when all before it was read. */
  let ending: { readonly error: unknown } | null = null

  /** The text of an event; null for the end. */
  function readEvent(json: string): RelayedText | null {
    if (json.startsWith('[DONE]')) {
      if (!isBegun) throw new ApiError('upstream_invalid_response')
      if (!rules.endsWithDone) requireWhole()
      return null
    }
    isBegun = true
    const value = requireObject(json)
    return { json, value, isHidden: rules.note(value) }
  }

  function readEvents(pieces: Pieces): RelayedText[] {
    const texts: RelayedText[] = []
    try {
      for (const piece of pieces) {
        for (const json of decoder.push(piece)) {
          const text = readEvent(json)
          if (text === null) {
            ending = { error: null }
            return texts
          }
          texts.push(text)
        }
      }
    } catch (error) {
      ending = { error }
    }
    return texts
  }

  function requireWhole(): void {
    if (rules.isWhole()) return
    throw new ApiError('upstream_error', { message: 'The upstream broke off its answer.' })
  }

  function finish(): void {
    requireWhole()
    ending = { error: null }
  }

  return {
    async next() {
      if (!isBegun && answer.mediaType() !== 'text/event-stream') await refuseBody(answer, host)
      while (ending === null) {
        const next = answer.read()
        const pieces = next instanceof Promise ? await next : next
        const texts = pieces === null ? finish() : readEvents(pieces)
        if (texts !== undefined && texts.length > 0) return texts
      }
      if (ending.error !== null) throw ending.error
      return null
    },
  }
}

/** A stream was asked for and something else came: the error in it, or nonsense. */
async function refuseBody(answer: UpstreamAnswer, host: string): Promise<never> {
  const { text } = await readText(answer, ERROR_BODY_BYTES_MAX)
  const error = parseObject(text)?.error
  throw error ? toEventError(error, host, Date.now()) : new ApiError('upstream_invalid_response')
}

function requireObject(json: string): Record<string, unknown> {
  const value = parseObject(json)
  if (value === null) throw new ApiError('upstream_invalid_response')
  return value
}

/** Decodes whole texts only, so that it holds nothing between two of them. */
const DECODER = new TextDecoder()

/** The body as text, at most `bytesMax` of it; without a byte order mark. */
async function readText(
  answer: UpstreamAnswer,
  bytesMax: number,
): Promise<{ text: string; isWhole: boolean }> {
  const { bytes, isWhole } = await readBytes(answer, bytesMax)
  return { text: DECODER.decode(bytes), isWhole }
}
