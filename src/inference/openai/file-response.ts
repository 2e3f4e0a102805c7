/** Answers that need not be JSON, such as audio: passed on as bytes, piece by piece, up to a limit. */
import { ApiError } from '../../errors.ts'
import type { BytesDelta, RelayedDelta, Service } from '../backend.ts'
import { createEventBytes } from './event-bytes.ts'
import { responseReaderOf } from './response-body.ts'
import type { UpstreamResponse } from './upstream/client.ts'
import { responseTooLarge } from './upstream/errors.ts'
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
