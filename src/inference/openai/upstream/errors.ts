/**
 * Maps failures of upstreams to this server's error codes. The client must never see the upstream's address, key
 * or HTML, nor a rejection of our key as if it were the client's.
 */

import { isObject } from '../../../domain/json/is-object.ts'
import { parseObject } from '../../../domain/json/json-values.ts'
import { ApiError, type ErrorCode } from '../../../errors.ts'
import type { Redact } from './redaction.ts'

/** Limits for upstream texts that are passed on, in characters. */
const MESSAGE_CHARS_MAX = 1_000
const PARAM_CHARS_MAX = 256
/** Limit: longer waits are reported as this one; one day. */
const RETRY_AFTER_S_MAX = 86_400

/** How engines say that a prompt does not fit. */
const CONTEXT_EXCEEDED =
  /maximum context length|exceeds the available context size|longer than the model's context length|exceed_context_size|context_length_exceeded|You passed \d+ input tokens|prompt is too long/

/** How providers say that their filter refused the request or its response. */
const CONTENT_FILTERED =
  /^(?:content_filter|content_policy_violation|ResponsibleAIPolicyViolation)$|^Output blocked by content filtering policy/

/** An upstream's answer that is not a completion. */
interface UpstreamFailure {
  /** Null for an error object that names none. */
  readonly status: number | null
  /** The body, or the part of it that was read. */
  readonly text: string
  /** The wait that the upstream asks for. Default: none. */
  readonly retryAfterS?: number | null
  readonly redact: Redact
  /** Whether the engine answers 500 with its own error object to a request that it cannot serve. Default false. */
  readonly failsRequestsWith500?: boolean
}

/** The cause of an upstream error, for the log and for the decision whether to retry. */
class UpstreamStatus extends Error {
  readonly status: number | null
  /** Whether the request is at fault, so that the upstream can be used for others. */
  readonly concernsRequest: boolean
  constructor(status: number | null, message: string, concernsRequest: boolean) {
    super(message)
    this.name = 'UpstreamStatus'
    this.status = status
    this.concernsRequest = concernsRequest
  }
}

/** Whether an upstream failed because of this one request. */
export function concernsRequest({ cause }: ApiError): boolean {
  return cause instanceof UpstreamStatus && cause.concernsRequest
}

/** Returns the status of an upstream's answer, or the one in its error object; null if there was none. */
export function statusOf({ cause }: ApiError): number | null {
  return cause instanceof UpstreamStatus ? cause.status : null
}

/**
 * Returns the error for an upstream's answer without a success status.
 *
 * Spec: §7 row 4 (statuses not shown).
 * Choice: 400, 413 and 422 are the client's own faults and pass with the upstream's message; 401 and 403
 * concern our key; 404 concerns a model that we list; these and all others are 502. A 501 says what the engine cannot
 * do, and so does a 500 of an engine that answers requests so that it cannot serve: their messages pass, too.
 */
export function toStatusError(failure: UpstreamFailure): ApiError {
  const { status, retryAfterS = null, redact } = failure
  // For the log, which must not get upstream texts: they may contain prompts or keys.
  const told = status === null ? 'upstream error' : `upstream status ${status}`
  const words = [told, ...namesOf(failure.text, redact)]
  const reason = readOwnFailure(failure)
  const cause = new UpstreamStatus(status, words.join(' '), reason !== null)
  if (status === 401 || status === 403) return new ApiError('upstream_auth', { cause })
  if (status === null) return new ApiError('upstream_error', { cause })
  if (status === 429) return new ApiError('upstream_rate_limited', { cause, retryAfterS })
  if (status === OVERLOADED) return new ApiError('upstream_overloaded', { cause, retryAfterS })
  const code = CLIENT_FAULTS[status]
  if (code === undefined) {
    const message = `The upstream failed with status ${status}${reason === null ? '.' : `: ${reason}`}`
    return new ApiError('upstream_error', { message, cause, isQuoted: reason !== null })
  }
  return toClientFault(code, failure, cause)
}

/** Returns the message of an error object with which an engine says that it cannot serve the request, or null. */
function readOwnFailure(failure: UpstreamFailure): string | null {
  const { status, text, redact, failsRequestsWith500 = false } = failure
  if (status !== 501 && !(status === 500 && failsRequestsWith500)) return null
  const error = parseObject(text)?.error
  const message = isObject(error) ? error.message : null
  return typeof message === 'string' ? toPublicText(message, redact) : null
}

const CLIENT_FAULTS: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid_value',
  413: 'request_too_large',
  422: 'validation_failed',
}

/**
 * Returns the error that an event, or a body with a success status, tells of; null if it tells of none.
 *
 * Spec: §7 row 4 (errors in streams not shown).
 * Choice: a `code` that is a status, as a number or as its digits, is taken for it, as common engines and gateways
 * send it.
 */
export function findReportedError(
  value: Readonly<Record<string, unknown>>,
  redact: Redact,
): ApiError | null {
  const isError = value.type === 'error' || value.object === 'error'
  const error = value.error || (isError ? value : null)
  if (error === null) return null
  const object = isObject(error) ? error : { message: error }
  const status = findStatus(object)
  return toStatusError({ status, text: JSON.stringify({ error: object }), redact })
}

/** Anthropic's status for an overload. */
const OVERLOADED = 529

/** Statuses that Anthropic's error types stand for, of an error inside a stream. */
const STATUS_BY_TYPE: Readonly<Record<string, number>> = {
  authentication_error: 401,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  overloaded_error: OVERLOADED,
}

function findStatus({ code, type }: Readonly<Record<string, unknown>>): number | null {
  if (/^[45]\d\d$/.test(String(code))) return Number(code)
  if (findRefusal([code, type]) !== null) return 400
  const known = STATUS_BY_TYPE[String(type)]
  if (known !== undefined) return known
  return /^bad ?request|invalid_request/i.test(String(type)) ? 400 : null
}

const TIMEOUT_CODES = /^UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT$|^ETIMEDOUT$/
/**
 * Codes for answers that are not HTTP/1.1 or have too large a head; not for a connection lost inside an answer.
 */
const NONSENSE_CODES = /^HPE_(?!INVALID_EOF_STATE$)|^UND_ERR_HEADERS_OVERFLOW$/

/** Marks a request that the upstream certainly did not process. */
class UnprocessedRequest extends Error {
  constructor(cause: unknown) {
    super('the request was not processed', { cause })
    this.name = 'UnprocessedRequest'
  }
}

/** Whether the upstream certainly did not process the failed request. */
export function isSurelyUnprocessed({ cause }: ApiError): boolean {
  return cause instanceof UnprocessedRequest
}

/** Whether the upstream or an intermediary closed the connection. */
export function isCutByPeer(cause: unknown): boolean {
  return ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(codeOf(cause))
}

/** Whether this server is closing its connections. */
export function isClosing(cause: unknown): boolean {
  return ['UND_ERR_CLOSED', 'UND_ERR_DESTROYED'].includes(codeOf(cause))
}

/** Returns the error for a request that got no answer. */
export function toConnectionError(error: unknown, isUnprocessed: boolean): ApiError {
  const code = codeOf(error)
  const told = withoutBytes(error)
  const cause = isUnprocessed ? new UnprocessedRequest(told) : told
  if (TIMEOUT_CODES.test(code)) return new ApiError('upstream_timeout', { cause })
  if (NONSENSE_CODES.test(code)) return new ApiError('upstream_invalid_response', { cause })
  return new ApiError('upstream_unreachable', { cause })
}

/** Codes of node:zlib for bytes that are not in the declared compression. */
const CODING_CODES = /^Z_|^ERR__ERROR_|^ZSTD_error_/

/** Returns the error for an answer that broke off or cannot be decompressed. */
export function toBodyError(cause: unknown): ApiError {
  if (cause instanceof ApiError) return cause
  if (CODING_CODES.test(codeOf(cause)) || NONSENSE_CODES.test(codeOf(cause))) {
    return new ApiError('upstream_invalid_response', { cause: withoutBytes(cause) })
  }
  const code = TIMEOUT_CODES.test(codeOf(cause)) ? 'upstream_timeout' : 'upstream_error'
  return new ApiError(code, {
    message: 'The upstream broke off its answer.',
    cause: withoutBytes(cause),
  })
}

/** Returns the error for an answer beyond a limit of this server. */
export function responseTooLarge(): ApiError {
  const message = 'The upstream sent an answer that is too large.'
  return new ApiError('upstream_invalid_response', { message })
}

/** Returns an error of the HTTP parser without the bytes of the answer that it holds, for the log. */
function withoutBytes(error: unknown): unknown {
  if (!(error instanceof Error) || !('data' in error)) return error
  return Object.assign(new Error(error.message), { code: codeOf(error) })
}

/** Parses the seconds of a Retry-After header, a number or a date; null if it is missing or malformed. */
export function parseRetryAfter(header: string | undefined, nowMs: number): number | null {
  if (header === undefined) return null
  const seconds = /^\d{1,9}$/.test(header) ? Number(header) : (Date.parse(header) - nowMs) / 1000
  if (Number.isNaN(seconds)) return null
  return Math.min(Math.max(Math.ceil(seconds), 0), RETRY_AFTER_S_MAX)
}

/** Returns the error in a body, an object or its message. Older engines send it without a wrapper, FastAPI as `detail`. */
function errorOf(body: Readonly<Record<string, unknown>> | null): unknown {
  if (body === null) return null
  const { error, detail } = body
  if (Array.isArray(detail)) return Object(detail[0]).msg
  return error ?? detail ?? body
}

/** Without digits, which names hardly have and most keys do. */
const NAME = /^[A-Za-z][A-Za-z_.-]{0,63}$/

/** Returns an upstream's names for its error, such as `InternalServerError`. */
function namesOf(text: string, redact: Redact): string[] {
  const error = errorOf(parseObject(text))
  if (!isObject(error)) return []
  const names = [error.type, error.code].map((name) => (typeof name === 'string' ? name : ''))
  return names.filter((name) => NAME.test(name) && redact(name) === name)
}

function toClientFault(
  code: ErrorCode,
  { text: body, redact }: UpstreamFailure,
  cause: UpstreamStatus,
): ApiError {
  const nested = errorOf(parseObject(body))
  const { message, param, type, code: name } = isObject(nested) ? nested : { message: nested }
  const text = typeof message === 'string' ? toPublicText(message, redact) : null
  return new ApiError(findRefusal([message, type, name]) ?? code, {
    cause,
    isQuoted: true,
    ...(text === null ? {} : { message: text }),
    param: typeof param === 'string' ? redact(param).slice(0, PARAM_CHARS_MAX) : null,
  })
}

/** @param words - the message and names of an error */
function findRefusal(words: readonly unknown[]): ErrorCode | null {
  if (words.some((word) => CONTEXT_EXCEEDED.test(String(word)))) return 'context_length_exceeded'
  return words.some((word) => CONTENT_FILTERED.test(String(word))) ? 'content_filter' : null
}

/** Returns an upstream's message without addresses and keys, or null if it is not plain text. */
function toPublicText(message: string, redact: Redact): string | null {
  if (message === '' || /<\/?(?:!doctype|html|head|body|title|h1|p|center)\b/i.test(message))
    return null
  // Cut afterwards, or the limit could leave the beginning of a key.
  return redact(message)
    .slice(0, MESSAGE_CHARS_MAX)
    .replace(/\b[a-z][a-z0-9+.-]*:\/\/\S+/gi, '[address]')
}

function codeOf(error: unknown): string {
  return isObject(error) && typeof error.code === 'string' ? error.code : ''
}

/** Returns the same error with a header that tells client libraries not to retry. */
export function withoutClientRetries(error: ApiError): ApiError {
  const { code, message, param, retryAfterS, headers, cause, isQuoted } = error
  return new ApiError(code, {
    message,
    cause,
    isQuoted,
    param,
    retryAfterS,
    headers: { ...headers, 'x-should-retry': 'false' },
  })
}
