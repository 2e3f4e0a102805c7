/**
 * Decompresses request bodies, which telemetry exporters and some SDKs send compressed. They are decompressed as they
 * arrive, off the event loop. Compressed and plain bytes have a limit each, at which decompression stops.
 */
import type { IncomingMessage } from 'node:http'
import { Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createUnzip, createZstdDecompress } from 'node:zlib'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ApiError, bodyTooLarge } from '../../errors.ts'
import type { App } from '../app-type.ts'

/** Spec: §4 (bodies are JSON, nothing about encodings). Choice: those that Node supports; one encoding at a time. */
const DECODERS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', createUnzip],
  ['x-gzip', createUnzip],
  ['deflate', createUnzip],
  ['br', createBrotliDecompress],
  ['zstd', createZstdDecompress],
])
const TAKEN = 'gzip, deflate, br, zstd'

/** Decompresses bodies before they are parsed, whatever their media type. */
export const contentEncoding = fp(
  async (app: App) => {
    app.addHook('preParsing', (request, _reply, payload, done) => {
      const encoding = request.headers['content-encoding']?.toLowerCase()
      if (encoding === undefined || encoding === 'identity') {
        done(null)
        return
      }
      const open = DECODERS.get(encoding)
      if (open === undefined) done(refuseEncoding())
      else done(null, unpack(payload as IncomingMessage, open(), bytesMaxOf(request)))
    })
  },
  { name: 'content-encoding' },
)

/** Returns the error for an unsupported encoding. @param taken - the supported ones, comma-separated */
export function refuseEncoding(taken: string = TAKEN): ApiError {
  return new ApiError('unsupported_media_type', {
    message: `This content-encoding is not supported here; use one of: ${taken}.`,
    headers: { 'accept-encoding': taken },
  })
}

/** Returns the limit of a request's body in bytes, before and after decompression. */
export function bytesMaxOf({ routeOptions }: FastifyRequest): number {
  return routeOptions.config.bodyBytesMax ?? routeOptions.bodyLimit ?? 0
}

/** @param bytesMax - limit of the bytes before and of those after decompression */
function unpack(packed: IncomingMessage, decoder: Transform, bytesMax: number): Readable {
  let receivedEncodedLength = 0
  const tooLarge = () => bodyTooLarge(bytesMax)
  const onChunk = (chunk: Buffer) => {
    receivedEncodedLength += chunk.length
    if (receivedEncodedLength > bytesMax) decoder.destroy(tooLarge())
  }
  const onClose = () => {
    if (!packed.complete) decoder.destroy(new ApiError('client_closed_request'))
  }
  async function* read(): AsyncGenerator<Buffer> {
    let bytes = 0
    try {
      for await (const chunk of decoder as AsyncIterable<Buffer>) {
        bytes += chunk.length
        if (bytes > bytesMax) throw tooLarge()
        yield chunk
      }
    } catch (cause) {
      if (cause instanceof ApiError) throw cause
      throw new ApiError('invalid_encoding', { cause })
    } finally {
      packed.off('data', onChunk).off('close', onClose).unpipe(decoder)
      decoder.destroy()
    }
  }
  // A refused body is unpiped, and the remainder must not be decompressed. A body is also unpiped at the end.
  decoder.once('unpipe', () => decoder.writableFinished || decoder.destroy())
  packed.on('data', onChunk).once('close', onClose).pipe(decoder)
  const body = Readable.from(read(), { objectMode: false })
  // After a refusal no listener is left for a client that disconnects.
  body.on('error', () => undefined)
  // The framework compares this count with the Content-Length.
  return Object.defineProperty(body, 'receivedEncodedLength', { get: () => receivedEncodedLength })
}
