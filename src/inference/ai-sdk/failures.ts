/**
 * Maps what packages of the AI SDK throw, or report inside a stream, to this server's errors. Packages bring several copies
 * of the classes of errors, so that they are known by their names.
 */
import { isObject } from '../../domain/json/is-object.ts'
import { objectOrEmpty, parseObject, textOrEmpty } from '../../domain/json/json-values.ts'
import { ApiError } from '../../errors.ts'
import { findReportedError, parseRetryAfter, toStatusError } from '../openai/upstream/errors.ts'
import type { Redact } from '../openai/upstream/redaction.ts'
import type { ProviderCall } from './provider-fetch.ts'

type Fields = Readonly<Record<string, unknown>>

/** What a package understands of the answer, but not as an answer. */
const INVALID = new Set([
  'AI_TypeValidationError',
  'AI_JSONParseError',
  'AI_InvalidResponseDataError',
  'AI_EmptyResponseBodyError',
])
/** A package found no key, or another setting is missing. */
const UNCONFIGURED = new Set(['AI_LoadAPIKeyError', 'AI_LoadSettingError'])
/** What a package refuses before it sends anything. */
const REFUSED = new Set([
  'AI_UnsupportedFunctionalityError',
  'AI_InvalidPromptError',
  'AI_InvalidArgumentError',
])

/**
 * Returns the error for what a package threw or reported.
 *
 * @param call - whose connection may have failed, which packages hide
 *
 * Spec: §7 row 4 (statuses not shown).
 * Choice: statuses mean what they mean of other upstreams. Texts of the packages themselves are not passed on, since they
 * may hold the prompt.
 */
export function toProviderError(error: unknown, call: ProviderCall, redact: Redact): ApiError {
  if (call.failure !== null) return call.failure
  if (error instanceof ApiError) return error
  const fields = toFields(error)
  const name = textOrEmpty(fields.name)
  if (REFUSED.has(name)) return toRefusal(fields)
  const cause = new Error(`the package reported ${name || 'an error'}`)
  if (UNCONFIGURED.has(name)) return new ApiError('upstream_auth', { cause })
  if (INVALID.has(name)) return toInvalid(fields, redact, cause)
  const status = fields.statusCode
  const isStatus = typeof status === 'number' && (status < 200 || status > 299)
  if (isStatus) return toStatus(status, fields, redact)
  if (name === 'AI_APICallError') return new ApiError('upstream_invalid_response', { cause })
  if (fields.data !== undefined || fields.type !== undefined) {
    return toStatusError({ status: null, text: JSON.stringify({ error: toPlain(fields) }), redact })
  }
  return new ApiError('upstream_error', { cause })
}

function toFields(error: unknown): Fields {
  if (error instanceof Error) return { ...error, name: error.name, message: error.message }
  return isObject(error) ? error : {}
}

function toPlain({ message, type }: Fields): Fields {
  return { message: textOrEmpty(message), type: textOrEmpty(type) }
}

function toRefusal({ functionality }: Fields): ApiError {
  const what = textOrEmpty(functionality)
    .replaceAll(/[^\w .,:/()'-]/g, '')
    .slice(0, 200)
  const message = `The package of the model does not support ${what || 'a part of the request'}.`
  return new ApiError('unsupported_value', { message })
}

/** The provider's own error may be in the value that a package did not understand. */
function toInvalid({ value }: Fields, redact: Redact, cause: Error): ApiError {
  const reported = isObject(value) ? findReportedError(value, redact) : null
  return reported ?? new ApiError('upstream_invalid_response', { cause })
}

function toStatus(status: number, fields: Fields, redact: Redact): ApiError {
  const text = textOrEmpty(fields.responseBody) || JSON.stringify({ error: toPlain(fields) })
  const headers = objectOrEmpty(fields.responseHeaders)
  const told = textOrEmpty(headers['retry-after']) || undefined
  const retryAfterS = parseRetryAfter(told, Date.now()) ?? findRetryDelay(text)
  // Google refuses a wrong key like a wrong request.
  const isKey = status === 400 && text.includes('"API_KEY_INVALID"')
  return toStatusError({ status: isKey ? 401 : status, text, retryAfterS, redact })
}

/** Returns the seconds that Google's errors name in their details, or null. */
function findRetryDelay(text: string): number | null {
  const { details } = objectOrEmpty(parseObject(text)?.error)
  for (const detail of Array.isArray(details) ? details : []) {
    const [, seconds] = /^(\d{1,9})(?:\.\d+)?s$/.exec(textOrEmpty(Object(detail).retryDelay)) ?? []
    if (seconds !== undefined) return parseRetryAfter(seconds, 0)
  }
  return null
}
