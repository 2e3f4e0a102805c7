/**
 * Decompresses an answer's body while it arrives: what the upstream flushed can be read at once. It bounds
 * what a small body may swell to, and it never looks at what the bytes mean.
 */
import { pipeline, Readable, type Transform } from 'node:stream'
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
  constants as zlib,
} from 'node:zlib'
import { ApiError } from '../../../errors.ts'

/** Limit: bytes that one compressed body may become; 256 Mi. */
const DECODED_BYTES_MAX = 256 * 1024 * 1024
/** Limit: codings upon one another. */
const CODINGS_MAX = 2

// A body that ends early gives what it has: its reader sees by the content that more should have come.
const FLUSHED = { flush: zlib.Z_SYNC_FLUSH, finishFlush: zlib.Z_SYNC_FLUSH }
const FLUSHED_BR = {
  flush: zlib.BROTLI_OPERATION_FLUSH,
  finishFlush: zlib.BROTLI_OPERATION_FLUSH,
}
const FLUSHED_ZSTD = { flush: zlib.ZSTD_e_flush, finishFlush: zlib.ZSTD_e_flush }

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip(FLUSHED),
  'x-gzip': () => createGunzip(FLUSHED),
  deflate: () => createInflate(FLUSHED),
  br: () => createBrotliDecompress(FLUSHED_BR),
  zstd: () => createZstdDecompress(FLUSHED_ZSTD),
}

/**
 * The plain bytes of a body, piece by piece; null for a coding that is not known.
 *
 * @param body - not read yet; a body that is not compressed is given back as it is
 * @param contentEncoding - the header's value, as `gzip` or `deflate, br`
 * @throws while it is read: ApiError upstream_invalid_response for a body that becomes too large, what the
 * body throws, and errors of node:zlib
 *
 * Spec: §8 (not shown).
 * Choice: compression is not asked for, since it would hold back the pieces of a stream; an upstream that
 * compresses all the same is understood.
 */
export function decodeBody(
  body: AsyncIterableIterator<Uint8Array>,
  contentEncoding: string,
  { bytesMax = DECODED_BYTES_MAX } = {},
): AsyncIterableIterator<Uint8Array> | null {
  const names = contentEncoding.toLowerCase().split(',')
  const codings = names.map((name) => name.trim()).filter((name) => !PLAIN.includes(name))
  if (codings.length === 0) return body
  if (codings.length > CODINGS_MAX) return null
  const decoders: Transform[] = []
  // The last coding was applied last, so it is undone first.
  for (const coding of codings.reverse()) {
    const create = Object.hasOwn(DECODERS, coding) ? DECODERS[coding] : undefined
    if (create === undefined) return null
    decoders.push(create())
  }
  return readDecoded(body, decoders, bytesMax)
}

const PLAIN: readonly string[] = ['', 'identity']

async function* readDecoded(
  body: AsyncIterable<Uint8Array>,
  decoders: readonly Transform[],
  bytesMax: number,
): AsyncGenerator<Uint8Array> {
  let failure: { readonly cause: unknown } | null = null
  async function* untilFailure() {
    try {
      yield* body
    } catch (cause) {
      // Told when all that came before was read: a pipeline would throw that away.
      failure = { cause }
    }
  }
  const stages = [Readable.from(untilFailure()), ...decoders]
  const decoded = pipeline(stages, () => {}) as unknown as Readable
  let byteCount = 0
  for await (const piece of decoded) {
    byteCount += piece.length
    if (byteCount > bytesMax) {
      throw new ApiError('upstream_invalid_response', {
        message: 'The upstream sent an answer that is too large.',
      })
    }
    yield piece
  }
  if (failure !== null) throw (failure as { readonly cause: unknown }).cause
}
