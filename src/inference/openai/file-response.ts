/**
 * Passes responses that need not be JSON, such as audio, on as bytes up to a limit. In events that pass as bytes the usage
 * and the errors are found; errors lose the address and the keys of the upstream.
 */
import { findUsage } from '../../domain/chat/engine-dialects.ts'
import { exceedsDepth, JSON_DEPTH_MAX } from '../../domain/json/json-limits.ts'
import { parseObject } from '../../domain/json/json-values.ts'
import { ApiError } from '../../errors.ts'
import type { BytesDelta, RelayedDelta, Service } from '../backend.ts'
import { responseReaderOf } from './response-body.ts'
import type { UpstreamResponse } from './upstream/client.ts'
import { findReportedError, responseTooLarge } from './upstream/errors.ts'
import type { BodyChunks } from './upstream/exchange.ts'
import type { Redact } from './upstream/redaction.ts'

/** Limit: bytes of one answer. */
const FILE_BYTES_MAX = 256 * 1024 * 1024

const AUDIO = /^(?:audio\/[\w.+-]{1,64}|application\/octet-stream)$/
const TEXT = /^(?:text\/(?:plain|vtt|srt)|application\/x-subrip)$/
const EVENTS = /^text\/event-stream$/

/** Media types that an answer may have besides JSON. HTML is not among them: it is the error page of a proxy. */
const TYPES: Partial<Record<Service, readonly RegExp[]>> = {
  speech: [AUDIO, EVENTS],
  transcriptions: [TEXT, EVENTS],
  translations: [TEXT],
}

/**
 * Returns the beginning of an answer and a reader for the rest.
 *
 * Events pass as bytes, too, since engines do not agree on their format. Their errors lose the keys of the upstream, and
 * the reader throws them at the end.
 *
 * @throws ApiError upstream_invalid_response; the error in the answer
 */
export async function readFileResponse(answer: UpstreamResponse, redact: Redact, service: Service) {
  const contentType = answer.mediaType()
  if (contentType === 'application/json') {
    const first: RelayedDelta = await responseReaderOf(service)(answer, redact)
    return { first, rest: { next: async () => null } }
  }
  if (!TYPES[service]?.some((type) => type.test(contentType))) {
    throw new ApiError('upstream_invalid_response')
  }
  const readPieces = async (): Promise<BodyChunks | null> => answer.read()
  const { read, findError, usage } = EVENTS.test(contentType)
    ? createEventBytes(readPieces, redact)
    : { read: readPieces, findError: () => null, usage: () => null }
  let byteCount = 0
  const next = async (): Promise<BytesDelta | null> => {
    const pieces = await read()
    const error = findError()
    if (pieces === null && error !== null) throw error
    if (pieces === null) return null
    for (const piece of pieces) byteCount += piece.length
    const tellsError = error !== null
    if (byteCount > FILE_BYTES_MAX) throw responseTooLarge()
    return { type: 'bytes', contentType, pieces, tellsError, usage: usage() }
  }
  const first = await next()
  if (first === null) throw new ApiError('upstream_invalid_response')
  return { first, rest: { next } }
}

/** Limit: bytes of a line that are held back. A longer line holds audio and passes as it comes. */
const LINE_BYTES_MAX = 64 * 1024
const LINE_END = 0x0a

interface EventBytes {
  /** Returns the same bytes, whole lines at a time, without what is secret in errors; null at the end. */
  read(): Promise<BodyChunks | null>
  /** Returns the first error that an event told of so far, or null. */
  findError(): ApiError | null
  /** Returns the last usage that an event reported so far, or null. */
  usage(): Fields | null
}

type Fields = Readonly<Record<string, unknown>>

/** @param read - returns null at the end */
export function createEventBytes(
  read: () => Promise<BodyChunks | null>,
  redact: Redact,
): EventBytes {
  let error: ApiError | null = null
  let usage: Fields | null = null

  /** Latin-1 keeps every byte, valid UTF-8 or not; keys and addresses are ASCII. */
  function inspect(bytes: Buffer): Buffer {
    const text = bytes.toString('latin1')
    if (!text.includes('error') && !text.includes('usage')) return bytes
    const lines = text.split('\n').map((line) => {
      if (line.includes('usage')) usage = findUsage(eventIn(line) ?? {}) ?? usage
      if (!line.includes('error')) return line
      error ??= findReportedError(eventIn(line) ?? {}, redact)
      return redact(line)
    })
    return Buffer.from(lines.join('\n'), 'latin1')
  }

  async function* readLines(): AsyncGenerator<BodyChunks, void> {
    let held: Uint8Array = new Uint8Array()
    for (let pieces = await read(); pieces !== null; pieces = await read()) {
      const bytes = Buffer.concat([held, ...pieces])
      const rest = bytes.lastIndexOf(LINE_END) + 1
      const end = bytes.length - rest > LINE_BYTES_MAX ? bytes.length : rest
      held = bytes.subarray(end)
      if (end > 0) yield [inspect(bytes.subarray(0, end))]
    }
    if (held.length > 0) yield [inspect(Buffer.from(held))]
  }

  const lines = readLines()
  return {
    read: async () => (await lines.next()).value ?? null,
    findError: () => error,
    usage: () => usage,
  }
}

/** Returns the event of a line such as `data: {"type": "error", …}`, or null. */
function eventIn(line: string): Fields | null {
  if (!line.startsWith('data:')) return null
  const json = Buffer.from(line.slice(5), 'latin1').toString('utf8')
  return exceedsDepth(json, JSON_DEPTH_MAX) ? null : parseObject(json)
}
