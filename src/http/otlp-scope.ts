/**
 * The scope of OTLP over HTTP: bodies are passed on as bytes, and all responses, errors included, have the encoding
 * of the request. Spec: §7 row 4 (error bodies not shown). Choice: OTLP's own error body here, since exporters read
 * it.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { OtlpEncoding } from '../domain/otel/otlp-fields.ts'
import { encodeRpcStatus, encodeTraceResponse } from '../domain/otel/otlp-protobuf.ts'
import { rpcCodeOf } from '../domain/otel/rpc-code.ts'
import { ApiError } from '../errors.ts'
import type { App } from './app-type.ts'

const PROTOBUF = 'application/x-protobuf'
const JSON_TYPE = 'application/json'

/** Accepts bodies of either encoding as bytes; others end as unsupported_media_type. */
export function useOtlpBodies(app: App, bodyBytesMax: number): void {
  app.removeAllContentTypeParsers()
  for (const type of [PROTOBUF, JSON_TYPE]) {
    app.addContentTypeParser(
      type,
      { parseAs: 'buffer', bodyLimit: bodyBytesMax },
      (_request, body, done) => done(null, body),
    )
  }
  app.addContentTypeParser('*', (_request, _body, done) => {
    const message = `Send the body as ${PROTOBUF} or ${JSON_TYPE}.`
    done(new ApiError('unsupported_media_type', { message }), undefined)
  })
}

export function encodingOf(request: FastifyRequest): OtlpEncoding {
  return request.headers['content-type']?.toLowerCase().startsWith(JSON_TYPE) ? 'json' : 'protobuf'
}

/** The part that was not stored, or null; 0 rejected with a message is a warning. */
interface PartialSuccess {
  readonly rejected: number
  readonly message: string
}

/** Sends 200 in the encoding of the request. */
export function respondToExport(
  request: FastifyRequest,
  reply: FastifyReply,
  partial: PartialSuccess | null,
  rejectedName: 'rejectedSpans' | 'rejectedLogRecords' = 'rejectedSpans',
): FastifyReply {
  if (encodingOf(request) === 'protobuf') {
    return reply.header('content-type', PROTOBUF).send(Buffer.from(encodeTraceResponse(partial)))
  }
  const partialSuccess = partial && {
    [rejectedName]: String(partial.rejected),
    errorMessage: partial.message,
  }
  const body = JSON.stringify(partialSuccess ? { partialSuccess } : {})
  return reply.header('content-type', JSON_TYPE).serializer(String).send(body)
}

/** Returns an error as `google.rpc.Status`. */
export function renderRpcStatus(error: ApiError, status: number, request: FastifyRequest) {
  const code = rpcCodeOf(status)
  return encodingOf(request) === 'protobuf'
    ? { type: PROTOBUF, body: Buffer.from(encodeRpcStatus(code, error.message)) }
    : { type: JSON_TYPE, body: JSON.stringify({ code, message: error.message }) }
}
