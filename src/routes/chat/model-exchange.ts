/**
 * Begins each request to a model: its caller, and the response that follows the client. Sends what the model returns,
 * whole or as events whose status waits for the first of them.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { requireScope } from '../../domain/access/permissions.ts'
import { readCacheDirectives } from '../../domain/chat/cache-directives.ts'
import { type ApiError, toErrorBody } from '../../errors.ts'
import { toApiError } from '../../http/error-handler.ts'
import { requireProjectHeader } from '../../http/project-header.ts'
import { type ClientDeadline, startClientDeadline } from '../../http/stream/client-signal.ts'
import {
  createEventStream,
  type Framing,
  sendEvents,
  settlesWithin,
} from '../../http/stream/sse.ts'
import type { CompletionExchange } from '../../inference/chat/completion-run.ts'
import type { ModelCaller } from '../../inference/models/model-choice.ts'

/** @throws ApiError missing_api_key, scope_missing, invalid_header, project_forbidden */
export function toModelCaller(request: FastifyRequest): ModelCaller {
  const caller = requireScope(request.principal, 'inference')
  return { caller, projectId: requireProjectHeader(request, caller), body: request.body }
}

/** Begins to wait for an answer: opens the request's abort controller and starts the client's own timeout. */
export function openResponse(request: FastifyRequest, reply: FastifyReply) {
  const abort = request.server.openAbort(reply)
  const deadline = startClientDeadline(request.headers, abort)
  const setHeaders: CompletionExchange['setHeaders'] = (headers) => {
    if (reply.sent) return
    for (const [name, value] of Object.entries(headers)) {
      if (value === null) reply.removeHeader(name)
      else reply.header(name, value)
    }
  }
  const directives = readCacheDirectives(request.headers)
  return { abort, deadline, client: { signal: abort.signal, setHeaders, directives } }
}

/** How long the status waits for the first chunk; until then a failure is a real 4xx or 5xx. */
export const STATUS_HOLD_MS = 10_000
/** Idle time after which a comment is sent; proxies commonly close idle streams after 30 to 60 s. */
export const KEEP_ALIVE_MS = 15_000

/** Sends JSON text unchanged: parsing and printing it could lose digits or unknown keys of an upstream. */
export async function sendWhole(
  reply: FastifyReply,
  answer: Promise<string>,
  deadline: ClientDeadline | null,
): Promise<void> {
  const askedAt = performance.now()
  const json = await (deadline === null ? answer : answer.finally(deadline.lift))
  const waitedMs = performance.now() - askedAt
  // Answers of one turn of the event loop are written together: written one by one, each would wake its client and
  // compete with it for the processor while the others are still to be read.
  await nextTurn()
  nameOverhead(reply, waitedMs)
  reply.header('content-type', 'application/json; charset=utf-8').send(json)
  // A hook may still be at work: the framework would send a reply that looks unsent once more.
  if (!reply.sent) await reply
}

/** Resolves when the answers of this turn of the event loop are written; null while there are none. */
let turnEnd: Promise<void> | null = null

function nextTurn(): Promise<void> {
  turnEnd ??= new Promise((resolve) => {
    setImmediate(() => {
      turnEnd = null
      resolve()
    })
  })
  return turnEnd
}

/** @param waitedMs - time that the request spent waiting for the backend */
function nameOverhead(reply: FastifyReply, waitedMs: number): void {
  reply.header('x-weft-overhead-ms', Math.max(0, reply.elapsedTime - waitedMs).toFixed(3))
}

/** Logs why an answer broke whose status was sent. */
export function logStreamFailure({ log }: FastifyRequest, failure: ApiError): void {
  const { code, cause } = failure
  log.error({ code, err: cause ?? failure }, 'stream failed')
}

interface StreamExchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** The client's timeout, which ends with the status: libraries do not count further. */
  readonly deadline: ClientDeadline | null
  /** Default: events without a name, and `[DONE]`. */
  readonly framing?: Framing
  /** Called when the status is sent before the first chunk. */
  readonly onStatusFirst?: () => void
  /** The text of a failure, framed like all others. Default: the error body. */
  readonly renderError?: (error: ApiError) => string
}

/**
 * Sends chunks as events. The status is held until the first chunk or for STATUS_HOLD_MS, whichever
 * comes first; from then on a failure can only be an event.
 */
export async function sendStream(
  { request, reply, deadline, framing, renderError, onStatusFirst }: StreamExchange,
  chunks: AsyncGenerator<readonly string[]>,
): Promise<FastifyReply> {
  reply.raw.once('close', () => {
    // Otherwise the chunks would stay open if the client disconnects before the first read.
    void chunks.return(undefined).catch(() => {})
    // An idle keep-alive socket would keep a draining server open.
    if (request.server.draining.aborted) request.raw.socket.destroySoon()
  })
  const askedAt = performance.now()
  const first = chunks.next()
  const isEarly = await settlesWithin(first, STATUS_HOLD_MS).finally(deadline?.lift)
  if (!isEarly) onStatusFirst?.()
  nameOverhead(reply, performance.now() - askedAt)
  const events = createEventStream(chunks, {
    first,
    ...(framing === undefined ? {} : { framing }),
    keepAliveMs: KEEP_ALIVE_MS,
    opensWithComment: !isEarly,
    renderFailure(error) {
      if (reply.raw.destroyed) return null
      const failure = toApiError(error, request)
      logStreamFailure(request, failure)
      return renderError?.(failure) ?? JSON.stringify(toErrorBody(failure))
    },
  })
  return sendEvents(reply, events, framing?.type)
}
