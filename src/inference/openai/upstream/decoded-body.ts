/**
 * Decompresses an answer's body as it arrives: data flushed by the upstream can be read at once. It bounds
 * the decompressed size and never interprets the bytes.
 */
import { pipeline, Readable, type Transform } from 'node:stream'
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
  constants as zlib,
} from 'node:zlib'
import { responseTooLarge } from './errors.ts'

/** Limit: decompressed bytes of one body; 256 Mi. */
const DECODED_BYTES_MAX = 256 * 1024 * 1024
/** Limit: stacked codings. */
const CODINGS_MAX = 2

// A truncated body is not an error here: its reader notices from the content that the end is missing.
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
 * Returns the decompressed chunks of a body; null for an unknown coding.
 *
 * @param body - not read yet; an uncompressed body is returned unchanged
 * @param contentEncoding - the header's value, such as `gzip` or `deflate, br`
 * @throws while it is read: ApiError upstream_invalid_response for a body that becomes too large, what the
 * body throws, and errors of node:zlib
 *
 * Spec: §8 (not shown).
 * Choice: compression is not requested, since it would delay the chunks of a stream, but answers of an
 * upstream that compresses anyway are decompressed.
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
      // Reported only after all earlier data was read: a pipeline would discard that data.
      failure = { cause }
    }
  }
  const stages = [Readable.from(untilFailure()), ...decoders]
  const decoded = pipeline(stages, () => {}) as unknown as Readable
  let byteCount = 0
  for await (const piece of decoded) {
    byteCount += piece.length
    if (byteCount > bytesMax) throw responseTooLarge()
    yield piece
  }
  if (failure !== null) throw (failure as { readonly cause: unknown }).cause
}
