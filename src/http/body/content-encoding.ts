/**
 * Request bodies that come compressed, as telemetry exporters and some SDKs send them. They are unpacked as they
 * arrive, off the event loop. The compressed bytes and the plain ones have a limit each; at either unpacking stops.
 */
import type { IncomingMessage } from 'node:http'
import { Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createUnzip, createZstdDecompress } from 'node:zlib'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ApiError, bodyTooLarge } from '../../errors.ts'
import type { App } from '../app-type.ts'

/** Spec: §4 (bodies are JSON, nothing about encodings). Choice: what Node unpacks; one encoding at a time. */
const DECODERS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', createUnzip],
  ['x-gzip', createUnzip],
  ['deflate', createUnzip],
  ['br', createBrotliDecompress],
  ['zstd', createZstdDecompress],
])
const TAKEN = 'gzip, deflate, br, zstd'

/** Unpacks bodies before they are parsed, whatever their media type. */
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

/** The refusal of an encoding, which tells those that are taken. @param taken - comma-separated */
export function refuseEncoding(taken: string = TAKEN): ApiError {
  return new ApiError('unsupported_media_type', {
    message: `This content-encoding is not supported here; use one of: ${taken}.`,
    headers: { 'accept-encoding': taken },
  })
}

/** Limit: bytes of the body of a request, before and after it is unpacked. */
export function bytesMaxOf({ routeOptions }: FastifyRequest): number {
  return routeOptions.config.bodyBytesMax ?? routeOptions.bodyLimit ?? 0
}

/** @param bytesMax - bound of the bytes before and of the bytes after */
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
  // A refused body is unpiped, and what it has left must not be unpacked. At its end it is unpiped, too.
  decoder.once('unpipe', () => decoder.writableFinished || decoder.destroy())
  packed.on('data', onChunk).once('close', onClose).pipe(decoder)
  const body = Readable.from(read(), { objectMode: false })
  // Nobody listens any more when the client leaves behind a refusal.
  body.on('error', () => undefined)
  // The framework compares it with the announced length.
  return Object.defineProperty(body, 'receivedEncodedLength', { get: () => receivedEncodedLength })
}
