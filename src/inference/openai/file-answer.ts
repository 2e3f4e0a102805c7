/** Answers that may be no JSON, as audio: passed on as bytes, piece by piece, within a limit. */
import { ApiError } from '../../errors.ts'
import type { BytesDelta, RelayedDelta, Service } from '../backend.ts'
import { readAnswerOf } from './answer-body.ts'
import type { UpstreamAnswer } from './upstream/client.ts'
import type { Pieces } from './upstream/exchange.ts'

/** Limit: bytes of one answer. */
const FILE_BYTES_MAX = 256 * 1024 * 1024

const AUDIO = /^(?:audio\/[\w.+-]{1,64}|application\/octet-stream)$/
const TEXT = /^(?:text\/(?:plain|vtt|srt)|application\/x-subrip)$/
const EVENTS = /^text\/event-stream$/

/** What an answer may be besides JSON. A page of a proxy is none of it. */
const TYPES: Partial<Record<Service, readonly RegExp[]>> = {
  speech: [AUDIO, EVENTS],
  transcriptions: [TEXT, EVENTS],
  translations: [TEXT],
}

/**
 * The beginning of an answer, and what follows it.
 *
 * Events pass as bytes, too: engines do not agree on what they look like.
 *
 * @throws ApiError upstream_invalid_response; of an error in it
 */
export async function readFileAnswer(answer: UpstreamAnswer, host: string, service: Service) {
  const contentType = answer.mediaType()
  if (contentType === 'application/json') {
    const first: RelayedDelta = await readAnswerOf(service)(answer, host)
    return { first, rest: { next: async () => null } }
  }
  if (!TYPES[service]?.some((type) => type.test(contentType))) {
    throw new ApiError('upstream_invalid_response')
  }
  let byteCount = 0
  const next = async (): Promise<BytesDelta | null> => {
    const pieces: Pieces | null = await answer.read()
    if (pieces === null) return null
    for (const piece of pieces) byteCount += piece.length
    if (byteCount <= FILE_BYTES_MAX) return { type: 'bytes', contentType, pieces }
    throw new ApiError('upstream_invalid_response', {
      message: 'The upstream sent an answer that is too large.',
    })
  }
  const first = await next()
  if (first === null) throw new ApiError('upstream_invalid_response')
  return { first, rest: { next } }
}
