/**
 * Reads the body of an answer with a success status: a whole completion or a stream of events, as text that is
 * never rebuilt. A broken answer never looks complete.
 */
import { parseObject } from '../../domain/json/json-values.ts'
import { ApiError } from '../../errors.ts'
import type { RelayedDelta, RelayedText, Service } from '../backend.ts'
import type { EventRules } from './event-rules.ts'
import { createSseDecoder } from './sse-decoder.ts'
import { readBytes, type UpstreamResponse } from './upstream/client.ts'
import { findReportedError, responseTooLarge } from './upstream/errors.ts'
import type { BodyChunks } from './upstream/exchange.ts'
import type { Redact } from './upstream/redaction.ts'

/** Limits of what is read from an answer, in bytes. */
const BODY_BYTES_MAX = 64 * 1024 * 1024
const ERROR_BODY_BYTES_MAX = 64 * 1024
/** Limit: characters of data that may be blank; longer data is no keep-alive. */
const BLANK_CHARS_MAX = 1_024
const BLANK = /^\s*(?:null\s*)?$/

/** Returns the start of the body of an error answer, as text. */
export async function readErrorText(answer: UpstreamResponse): Promise<string> {
  return (await readText(answer, ERROR_BODY_BYTES_MAX)).text
}

/**
 * Returns the body of a completion that is not streamed, unchanged.
 *
 * @param redact - for the words of an error
 * @throws ApiError for an error in the body; upstream_invalid_response if it is not a completion or too large
 */
export function readCompletion(answer: UpstreamResponse, redact: Redact): Promise<RelayedDelta> {
  return readWhole(answer, redact, 'choices')
}

/** The members that identify an answer of a service; one of them must be present. */
const MARKS: Readonly<Record<Service, readonly string[]>> = {
  completions: ['choices'],
  embeddings: ['data'],
  moderations: ['results'],
  images: ['data'],
  tokenize: ['tokens'],
  detokenize: ['prompt', 'content', 'text'],
  responses: ['output'],
  messages: ['content'],
  message_tokens: ['input_tokens'],
  image_edits: ['data'],
  image_variations: ['data'],
  // Its answers are audio, not JSON.
  speech: [],
  transcriptions: ['text'],
  translations: ['text'],
}

/** The same for requests other than chats. */
export function responseReaderOf(service: Service) {
  return (answer: UpstreamResponse, redact: Redact): Promise<RelayedDelta> =>
    readWhole(answer, redact, ...MARKS[service])
}

/** @param marks - one of these members must be a list, a text or a number, otherwise the answer is invalid */
async function readWhole(
  answer: UpstreamResponse,
  redact: Redact,
  ...marks: readonly string[]
): Promise<RelayedDelta> {
  const { text, isWhole } = await readText(answer, BODY_BYTES_MAX)
  if (!isWhole) throw responseTooLarge()
  const body = parseObject(text)
  const error = body && findReportedError(body, redact)
  if (error) throw error
  const isSound = marks.some(
    (mark) => Array.isArray(body?.[mark]) || ['string', 'number'].includes(typeof body?.[mark]),
  )
  if (body === null || !isSound) throw new ApiError('upstream_invalid_response')
  return { type: 'relayed', texts: [{ json: text, value: body }] }
}

/** The events of a streamed answer. */
interface EventReader {
  /**
   * Returns the data of the events received since the last read, unchanged and at least one, or null after the
   * last one. One read at a time.
   *
   * @throws ApiError for an error event; upstream_invalid_response if it is not a stream of JSON objects;
   * upstream_error if the stream breaks off. All events before the fault are returned first
   */
  next(): Promise<readonly RelayedText[] | null>
}

/**
 * Reads events up to `[DONE]`. A stream may end without `[DONE]` once its answer is whole. Events whose data is blank
 * are keep-alives and are skipped. A whole JSON answer in place of a stream is read as the events that it amounts to.
 *
 * Spec: §4.3 (chunk format not shown).
 * Choice: any other event that is not JSON ends the stream with an error; skipping it would silently lose text.
 */
export function createEventReader(
  answer: UpstreamResponse,
  redact: Redact,
  rules: EventRules,
): EventReader {
  const decoder = createSseDecoder()
  let isBegun = false
  /** How the stream ended, with a null error if it was complete; reported after all events before it. */
  let ending: { readonly error: unknown } | null = null

  /** Returns the text of an event; null for the end. */
  function readEvent(json: string): RelayedText | null {
    if (json.startsWith('[DONE]')) {
      if (!isBegun) throw new ApiError('upstream_invalid_response')
      if (!rules.endsWithDone) requireWhole()
      return null
    }
    isBegun = true
    const value = requireObject(json)
    const isHidden = rules.note(value)
    const passed = rules.rewrite?.(json, value) ?? json
    return { json: passed, value: passed === json ? value : requireObject(passed), isHidden }
  }

  function readEvents(pieces: BodyChunks): RelayedText[] {
    const texts: RelayedText[] = []
    try {
      for (const piece of pieces) {
        for (const json of decoder.push(piece)) {
          if (isBlank(json)) continue
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

  /** Returns the events that a whole JSON answer amounts to. @throws ApiError if it is none, or an error */
  async function readWholeAsEvents(): Promise<RelayedText[]> {
    const { text, isWhole } = await readText(answer, BODY_BYTES_MAX)
    if (!isWhole) throw responseTooLarge()
    const body = parseObject(text)
    const error = body && findReportedError(body, redact)
    if (error) throw error
    const events = (body && rules.toEvents?.(text, body)) ?? []
    if (events.length === 0) throw new ApiError('upstream_invalid_response')
    const texts = events.map(readEvent).filter((event) => event !== null)
    ending = { error: null }
    return texts
  }

  return {
    async next() {
      const isStream = isBegun || answer.mediaType() === 'text/event-stream'
      if (!isStream) return readWholeAsEvents()
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

/** Whether the data of an event says nothing; llama-server begins a stream of several prompts with null. */
function isBlank(data: string): boolean {
  return data.length < BLANK_CHARS_MAX && BLANK.test(data)
}

function requireObject(json: string): Record<string, unknown> {
  const value = parseObject(json)
  if (value === null) throw new ApiError('upstream_invalid_response')
  return value
}

/** Decodes whole texts only, so it has no state between them and can be shared. */
const DECODER = new TextDecoder()

/** Returns at most `bytesMax` of the body as text, without a byte order mark. */
async function readText(
  answer: UpstreamResponse,
  bytesMax: number,
): Promise<{ text: string; isWhole: boolean }> {
  const { bytes, isWhole } = await readBytes(answer, bytesMax)
  return { text: DECODER.decode(bytes), isWhole }
}
