/**
 * Turns anything thrown into the one error body and logs the cause of each 5xx as error; 503 are counted. The line of
 * the request (request-log.ts) has the code of any refusal. No other file reads an error's status.
 */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type {
  FastifyBaseLogger,
  FastifyContextConfig,
  FastifyError,
  FastifyReply,
  FastifyRequest,
} from 'fastify'
import fp from 'fastify-plugin'
import { ApiError, bodyTooLarge, ERRORS, type ErrorCode, toErrorBody } from '../errors.ts'
import { type Problem, toValidationError } from '../schemas/problems.ts'
import type { App } from './app-type.ts'
import { toAuthenticationError } from './authentication.ts'
import { bytesMaxOf } from './body/content-encoding.ts'
import { SchemaError } from './body/parsing.ts'
import { createRefusalLog, type RefusalLog } from './log/refusal-log.ts'
import { recordSocketResponse } from './log/request-log.ts'
import type { RequestObserver } from './log/request-observer.ts'
import { newId } from './new-id.ts'

/** Errors of the framework and its plugins, by their code. */
const FRAMEWORK_CODES: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'invalid_json',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'invalid_json',
  FST_ERR_CTP_INVALID_JSON_BODY: 'invalid_json',
  FST_ERR_BAD_URL: 'unknown_url',
  FST_ERR_MAX_PARAM_LENGTH: 'uri_too_long',
  FST_ERR_HANDLER_TIMEOUT: 'server_overloaded',
  FST_STATIC_FORBIDDEN_PATH: 'unknown_url',
}

/** Converts anything thrown to an ApiError: errors of the framework by their code, all others to internal_error. */
export function toApiError(error: unknown, request: FastifyRequest): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof SchemaError) return fromProblems(error.problems, request)
  const code = (error as FastifyError | undefined)?.code ?? ''
  const refused = toAuthenticationError(code, request)
  if (refused) return refused
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return bodyTooLarge(bytesMaxOf(request), error)
  const known = FRAMEWORK_CODES[code]
  if (known) return new ApiError(known, { cause: error })
  if (isFileRefusal(error)) return new ApiError('unknown_url', { cause: error })
  if (hasLeft(request, code)) return new ApiError('client_closed_request', { cause: error })
  return new ApiError('internal_error', { cause: error })
}

/** Errors of the static file server for paths that no file can have, and for ranges that a file does not have. */
function isFileRefusal(error: unknown): boolean {
  const { expose, statusCode } = (error ?? {}) as { expose?: unknown; statusCode?: unknown }
  return expose === true && typeof statusCode === 'number' && statusCode < 500
}

/**
 * Whether the connection was closed inside the body, which Node reports as an error of the request's stream, or
 * before a streamed response could begin, which Node reports as an error of the response's stream.
 */
function hasLeft({ raw }: FastifyRequest, code: string): boolean {
  if (code === 'ERR_STREAM_PREMATURE_CLOSE') return raw.socket?.destroyed === true
  return code === 'ECONNRESET' && raw.complete === false
}

function fromProblems(problems: readonly Problem[], request: FastifyRequest): ApiError {
  const error = toValidationError(problems)
  if (request.routeOptions.config.invalidBody !== 'openai_400') return error
  return new ApiError(problems[0]?.isMissing ? 'missing_required_parameter' : 'invalid_value', {
    message: error.message,
    param: error.param,
  })
}

const CLIENT_ERROR_CODES: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

/** Returns the `clientError` handler, which responds to requests that the HTTP parser refuses. */
export function handleClientErrors(watch: RequestObserver) {
  return function (this: App, error: NodeJS.ErrnoException, socket: Socket): void {
    const code = CLIENT_ERROR_CODES[error.code ?? ''] ?? 'invalid_http'
    const response = responseOn(socket)
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy(error)
    // The client would read the error as a part of the response that is being sent.
    else if (response?.headersSent) socket.destroySoon()
    // A client that disconnects inside of a body is reported when the response to its request ends.
    else if (isCut(error)) endWithError(socket, new ApiError(code), null)
    // Inside of a body the end of the response reports the error.
    else if (response?.req.complete === false) {
      const requestId = endWithError(socket, new ApiError(code), null)
      recordSocketResponse(response, { refusal: code, requestId })
    } else endWithError(socket, new ApiError(code), { watch, log: this.log })
  }
}

/**
 * Returns the response in progress on a socket. Node exposes it only in this property, which its own handler of these
 * errors reads, too.
 */
function responseOn(socket: Socket & { readonly _httpMessage?: ServerResponse | null }) {
  return socket._httpMessage ?? null
}

function isCut({ code }: NodeJS.ErrnoException): boolean {
  return code === 'HPE_INVALID_EOF_STATE'
}

interface RefusalReporters {
  readonly watch: RequestObserver
  readonly log: FastifyBaseLogger
}

/** Writes a whole response to a socket, reports it, and closes the socket. Returns the response's `x-request-id`. */
export function endWithError(
  socket: Socket,
  error: ApiError,
  reporters: RefusalReporters | null,
): string {
  const { code } = error
  const { status } = ERRORS[code]
  const id = newId()
  reporters?.watch.requestFinished({
    route: 'unknown',
    method: 'other',
    status,
    seconds: 0,
    refusal: code,
  })
  reporters?.log.info({ request_id: id, route: null, status, code }, 'request answered')
  const body = JSON.stringify(toErrorBody(error))
  const headers = Object.entries(error.headers).map(([name, value]) => `${name}: ${value}`)
  socket.end(
    [
      // The reason phrase is optional; importing those of Node would load its WebSocket client, too.
      `HTTP/1.1 ${status} `,
      'connection: close',
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${id}`,
      'x-content-type-options: nosniff',
      ...headers,
      '',
      body,
    ].join('\r\n'),
  )
  return id
}

/** Sends the error for a request that the router refuses, for which there is no route. */
export function sendFrameworkError(
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  sendError(toApiError(error, request), request, reply)
}

/** Sends an error. */
function sendError(
  error: ApiError,
  request: FastifyRequest,
  reply: FastifyReply,
  refusals?: RefusalLog,
): FastifyReply {
  const { status } = ERRORS[error.code]
  request.refusal = error
  if (status === 503 && refusals) refusals.note(error, request.routeOptions.url ?? null)
  else if (status >= 500 && status !== 501)
    request.log.error({ code: error.code, err: error.cause ?? error }, error.message)
  if (status === 401 && !reply.hasHeader('www-authenticate')) {
    reply.header('www-authenticate', 'Bearer realm="weft"')
  }
  if (error.retryAfterS !== null) reply.header('retry-after', String(error.retryAfterS))
  for (const [name, value] of Object.entries(error.headers)) reply.header(name, value)
  const render: Render = request.routeOptions?.config.renderError ?? renderJsonError
  const { type, body, status: shown = status } = render(error, status, request)
  return reply.code(shown).header('content-type', type).serializer(keep).send(body)
}

type Render = NonNullable<FastifyContextConfig['renderError']>

/** Renders the error body of all routes without one of their own. */
export function renderJsonError(error: ApiError) {
  return { type: 'application/json; charset=utf-8', body: JSON.stringify(toErrorBody(error)) }
}

function keep(body: unknown): string {
  return body as string
}

/** Installs the handlers that send all errors with the same shape of body. */
export const errorHandler = fp(
  async (app: App) => {
    const refusals = createRefusalLog(app.log)
    app.addHook('onClose', async () => refusals.flush())
    app.setErrorHandler((error, request, reply) =>
      sendError(toApiError(error, request), request, reply, refusals),
    )
    app.setNotFoundHandler((request, reply) =>
      sendError(new ApiError('unknown_url'), request, reply),
    )
  },
  { name: 'error-handler' },
)
