/**
 * Table of every error that Weft responds with. Any layer may throw a code; only http/error-handler.ts reads its
 * status. Codes are permanent: clients branch on them.
 */

interface ErrorEntry {
  /** HTTP status. */
  readonly status: number
  /** Coarse class of the error, named after the error types of OpenAI. */
  readonly type: string
  /** Default public message. */
  readonly text: string
}

/** Types by status; any other status is an invalid_request_error. */
const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  409: 'conflict_error',
  429: 'rate_limit_error',
  500: 'server_error',
  501: 'not_implemented_error',
  502: 'upstream_error',
  503: 'overloaded_error',
  504: 'timeout_error',
}

/** Spec: §7 row 4 (shape, statuses and codes are not shown). Choice: OpenAI-like bodies, codes of our own. */
export const ERRORS = {
  invalid_value: entry(400, 'A field has an invalid value.'),
  missing_required_parameter: entry(400, 'A required field is missing.'),
  unsupported_value: entry(400, 'The value is not supported.'),
  unsupported_parameter: entry(400, 'The model does not support it.'),
  thread_unsupported: entry(400, 'Nothing is kept of a message; send the whole conversation.'),
  invalid_json: entry(400, 'The body is not valid JSON.'),
  invalid_encoding: entry(400, 'The body does not match its content-encoding.'),
  invalid_multipart: entry(400, 'The form cannot be read.'),
  invalid_otlp: entry(400, 'The body is not an OTLP trace request.'),
  otlp_project_missing: entry(
    400,
    'No project is named. Send a header project_id or Compat-Project of <entity>/<project>, set the resource attributes wandb.entity and wandb.project, or use a key of one project.',
  ),
  invalid_http: entry(400, 'This is not a valid HTTP/1.1 request.'),
  invalid_header: entry(400, 'A header has an invalid value.'),
  context_length_exceeded: entry(400, 'The prompt is too long.'),
  content_filter: entry(400, 'The content filter of the provider refuses this.'),
  previous_response_not_found: entry(400, 'There is no such previous response.'),
  model_unpriced: entry(400, 'The model has no price, and a budget applies.'),
  priority_unsupported: entry(400, 'The model is served without priorities.'),
  validation_failed: entry(422, 'The body breaks a rule.'),
  scorer_failed: entry(422, 'The scorer has no score for this.'),
  checkpoint_unusable: entry(422, 'The weights of the checkpoint cannot be served.'),
  query_invalid: entry(422, 'The query cannot be understood.'),
  missing_api_key: entry(401, 'No API key was given.'),
  invalid_api_key: entry(401, 'The API key is not valid.'),
  scope_missing: entry(403, 'The key lacks the scope for this.'),
  project_forbidden: entry(403, 'The key may not use this project.'),
  model_forbidden: entry(403, 'The key may not use this model.'),
  password_wrong: entry(403, 'The e-mail or the password is wrong.'),
  guard_refused: entry(403, 'The guard of the model refuses this.'),
  cross_origin_form: entry(
    403,
    'A page of another origin cannot send forms, plain text or bodies without a Content-Type here.',
  ),
  cross_origin_request: entry(
    403,
    'A request with the cookie of a session that changes something must prove that a page of this server sends it.',
  ),
  unknown_url: entry(404, 'There is nothing at this address.', 'invalid_request_error'),
  export_not_found: entry(
    404,
    'There is no such download: it was fetched, its time is over, or its key was revoked.',
  ),
  call_not_found: entry(404, 'There is no such call.'),
  trace_not_found: entry(404, 'There is no such trace.'),
  model_not_found: entry(404, 'There is no such model.'),
  capability_missing: entry(
    404,
    'The model does not support this request.',
    'invalid_request_error',
  ),
  object_not_found: entry(404, 'There is no such object.'),
  table_not_found: entry(404, 'There is no such table.'),
  file_not_found: entry(404, 'There is no such file.'),
  feedback_not_found: entry(404, 'There is no such feedback.'),
  checkpoint_not_found: entry(404, 'There is no such checkpoint.'),
  annotation_queue_not_found: entry(404, 'There is no such annotation queue.'),
  annotation_item_not_found: entry(404, 'The queue has no such item.'),
  response_not_found: entry(404, 'There is no such response.'),
  audit_entry_not_found: entry(404, 'There is no such entry of the audit list.'),
  alert_not_found: entry(404, 'There is no such alert.'),
  alert_event_not_found: entry(404, 'The history of the alert has no such entry.'),
  evaluator_not_found: entry(404, 'There is no such evaluator.'),
  comparison_not_found: entry(404, 'There is no such comparison.'),
  alias_not_found: entry(404, 'The project serves no model by this name.'),
  budget_not_found: entry(404, 'There is no such budget.'),
  key_not_found: entry(404, 'There is no such key, or it was revoked.'),
  person_not_found: entry(404, 'There is no such person.'),
  password_link_not_found: entry(
    404,
    'The link was used or replaced, or its time is over. Ask an admin for another one.',
  ),
  training_job_not_found: entry(404, 'There is no such training job.'),
  method_not_allowed: entry(405, 'The method is not allowed at this address.'),
  request_timeout: entry(408, 'The request did not arrive in time.'),
  call_conflict: entry(409, 'The id is taken by a call with other content.'),
  feedback_conflict: entry(409, 'The id is taken by other feedback.'),
  object_conflict: entry(409, 'The object has another latest version.'),
  model_conflict: entry(409, 'The name is taken by another model.'),
  idempotency_conflict: entry(409, 'The Idempotency-Key was used with another body.'),
  evaluator_conflict: entry(409, 'The name is taken by another evaluator or object.'),
  backfill_conflict: entry(409, 'The state of the backfill does not allow this.'),
  person_conflict: entry(409, 'The e-mail is taken by another person.'),
  passwords_off: entry(409, 'This server has no passwords: WEFT_LOCAL_ACCOUNTS is off.'),
  lease_lost: entry(409, 'The job is not leased to this worker; drop the work.'),
  annotation_conflict: entry(409, 'The state of the item does not allow this step.'),
  artifact_conflict: entry(409, 'The artifact was uploaded before with different content.'),
  training_job_ended: entry(409, 'The training job has ended.'),
  digest_mismatch: entry(409, 'The content has a different digest.'),
  request_too_large: entry(413, 'The body is too large.'),
  uri_too_long: entry(414, 'The address is too long.'),
  unsupported_media_type: entry(415, 'Send the body as application/json.'),
  range_not_satisfiable: entry(416, 'The requested range is not in the file.'),
  expectation_failed: entry(417, 'The only supported expectation is 100-continue.'),
  budget_exceeded: entry(429, 'A budget is used up.'),
  rate_limit_exceeded: entry(429, 'Too many requests.'),
  upstream_rate_limited: entry(429, 'The upstream is rate limited.'),
  headers_too_large: entry(431, 'The headers are too large.'),
  response_cancelled: entry(499, 'The response was cancelled.'),
  client_closed_request: entry(499, 'The client disconnected before the answer.'),
  internal_error: entry(500, 'Something went wrong inside the server.'),
  not_implemented: entry(501, 'This server does not support that.'),
  webhook_failed: entry(502, 'The webhook gave no valid response.'),
  upstream_unreachable: entry(502, 'The upstream cannot be reached.'),
  upstream_error: entry(502, 'The upstream failed.'),
  upstream_invalid_response: entry(502, 'The upstream sent an invalid response.'),
  upstream_auth: entry(502, 'The upstream rejected the API key of this server.'),
  server_overloaded: entry(503, 'The server is overloaded; try again soon.'),
  upstream_overloaded: entry(503, 'The upstream is overloaded.'),
  guard_unavailable: entry(503, 'The guard of the model gives no verdict.'),
  server_draining: entry(503, 'The server is shutting down.'),
  store_unavailable: entry(503, 'The store cannot be used.'),
  read_timeout: entry(503, 'The read took too long.', 'timeout_error'),
  upstream_timeout: entry(504, 'The upstream did not answer in time.'),
} as const satisfies Record<string, ErrorEntry>

export type ErrorCode = keyof typeof ERRORS

interface ApiErrorOptions {
  /** Public sentence; default: the text of the table. Never prompt text, never a secret. */
  readonly message?: string
  /** Dotted path of the field at fault, as `messages[0].content`. */
  readonly param?: string | null
  /** Seconds that a client should wait before it tries again. */
  readonly retryAfterS?: number | null
  /** Extra response headers, by lower-case name. */
  readonly headers?: Readonly<Record<string, string>>
  /** Underlying error, for the log only. */
  readonly cause?: unknown
  /** Whether message and param are quoted from an upstream, and must not be logged. Default: false. */
  readonly isQuoted?: boolean
}

/** The one error class that handlers and stores throw on purpose. */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly param: string | null
  readonly retryAfterS: number | null
  readonly headers: Readonly<Record<string, string>>
  readonly isQuoted: boolean

  constructor(code: ErrorCode, options: ApiErrorOptions = {}) {
    super(options.message ?? ERRORS[code].text, { cause: options.cause })
    this.name = 'ApiError'
    this.code = code
    this.param = options.param ?? null
    this.retryAfterS = options.retryAfterS ?? null
    this.headers = options.headers ?? {}
    this.isQuoted = options.isQuoted ?? false
  }
}

/** An ApiError as plain data, since it loses its class between threads and processes. */
export type PlainError = Pick<ApiError, 'code' | 'message' | 'param'>

/** The error for a caller that no longer waits: the reason of its signal if that is an ApiError. */
export function toClientClosedError({ reason }: AbortSignal): ApiError {
  return reason instanceof ApiError ? reason : new ApiError('client_closed_request')
}

/** Returns whether an error means that something does not exist, or is not visible to the caller. */
export function isNotFound(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code.endsWith('_not_found')
}

/** Refuses a field. @throws ApiError */
export function refuse(code: ErrorCode, param: string, message: string): never {
  throw new ApiError(code, { param, message })
}

/**
 * Refuses a field by a rule that continues the sentence begun by the field's name. @throws ApiError validation_failed
 */
export function refuseField(param: string, rule: string): never {
  refuse('validation_failed', param, `${param} ${rule}`)
}

/** Returns the error for a body that has more bytes than the route accepts. */
export function bodyTooLarge(bytesMax: number, cause?: unknown): ApiError {
  const message = `The body has more than ${bytesMax} bytes.`
  return new ApiError('request_too_large', { message, cause })
}

/** Returns the error body of every route. */
export function toErrorBody(error: ApiError) {
  const { code, message, param } = error
  return { error: { message, type: ERRORS[code].type, param, code } }
}

/** Types of Anthropic's Messages API by its statuses; any other status below 500 is an invalid_request_error. */
const MESSAGES_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}
/** Statuses of that API where it has others: an unprocessable body is a bad request, and 529 an overload. */
const MESSAGES_STATUSES: Readonly<Record<number, number>> = { 422: 400, 503: 529 }

/** By it the vendor's clients send the whole conversation, without a thread. */
const THREAD_UNSUPPORTED = { error_code: 'thread_unsupported_request', unsupported: ['thread'] }

/** Returns the status and the body of an error on routes in the format of Anthropic's Messages API. */
export function toMessagesError({ code, message }: ApiError, requestId: string) {
  const own = ERRORS[code].status
  const status = MESSAGES_STATUSES[own] ?? own
  const type = MESSAGES_TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error')
  const details = code === 'thread_unsupported' ? { details: THREAD_UNSUPPORTED } : {}
  return {
    status,
    body: { type: 'error', error: { type, message, ...details }, request_id: requestId },
  }
}

/** Statuses of Google's APIs by those of HTTP. */
const GOOGLE_STATUSES: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  501: 'UNIMPLEMENTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

/** Returns the status and the body of an error on routes in the format of Google's Gemini API. */
export function toGoogleError({ code, message, retryAfterS }: ApiError) {
  const own = ERRORS[code].status
  const http = own === 422 ? 400 : own
  const status = GOOGLE_STATUSES[http] ?? (http < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL')
  const type = 'type.googleapis.com/google.rpc.RetryInfo'
  const retry = retryAfterS === null ? [] : [{ '@type': type, retryDelay: `${retryAfterS}s` }]
  const details = retry.length > 0 ? { details: retry } : {}
  return { status: http, body: { error: { code: http, message, status, ...details } } }
}

/** @param type - default: that of the status */
function entry(
  status: number,
  text: string,
  type = TYPES[status] ?? 'invalid_request_error',
): ErrorEntry {
  return { status, type, text }
}
