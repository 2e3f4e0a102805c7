/**
 * One request and its answer over a connection pool, with timeouts, abort and backpressure. It does not use the
 * pool's own `request`, which creates a Node stream, an iterator and two abort signals for each answer.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import { ApiError } from '../../../errors.ts'
import { isClosing, isCutByPeer, toBodyError, toConnectionError } from './errors.ts'
import type { ConnectedHandler, SentRequest } from './upstream-pool.ts'

/** Limit: unread bytes of an answer; beyond it the socket is paused. */
const WAITING_BYTES_MAX = 64 * 1024
/** How long an answer may take to end after its last event before the socket is cut. */
const TRAILER_MS_MAX = 1_000

export interface ExchangeTimeouts {
  /** From the request to the first byte of the body; null: only `total` bounds it. */
  readonly first_byte: number | null
  /** Between two chunks of an answer. */
  readonly idle: number
  /** For the whole answer. */
  readonly total: number
}

/** How an answer is released: after a complete body the connection can be reused, otherwise it is cut. */
export interface CloseOptions {
  readonly isComplete: boolean
  /** False after an invalid answer: its connection is not reused even if the body was complete. */
  readonly isTrusted?: boolean
}

export interface ResponseHead {
  readonly status: number
  readonly headers: IncomingHttpHeaders
}

/** Parts of a body, in order. */
export type BodyChunks = readonly Uint8Array[]

export interface Exchange {
  /** @throws ApiError upstream_unreachable, upstream_timeout, or the reason of the signal */
  readonly head: Promise<ResponseHead>
  /**
   * Returns the raw chunks of the body received since the last read, at least one, or null at the end; a promise
   * only if none has arrived yet. One read at a time.
   *
   * @throws ApiError upstream_timeout, upstream_error, or the reason of the signal
   */
  read(): BodyChunks | null | Promise<BodyChunks | null>
  /** Idempotent. */
  close(options: CloseOptions): void
}

/**
 * Sends a request. Timeouts run only while waiting for the upstream, not while the reader is busy.
 *
 * @param caller - cuts the connection in any phase
 */
export function startExchange(
  pool: Dispatcher,
  request: Dispatcher.DispatchOptions,
  caller: AbortSignal,
  timeouts: ExchangeTimeouts,
): Exchange {
  const head = Promise.withResolvers<ResponseHead>()
  const inbox: Inbox = { pieces: [], waitingBytes: 0, reader: null, ending: null }
  let send: (() => SentRequest) | null = null
  /** Set once the request is written. */
  let controller: Dispatcher.DispatchController | null = null
  let sent: SentRequest | null = null
  let hasHead = false
  let isClosed = false
  let trailer: NodeJS.Timeout | undefined
  const clocks = startClocks(timeouts, () => cut(new ApiError('upstream_timeout')))
  const onAbort = () => cut(caller.reason)

  /** Stops the timers and stops listening to the caller's signal. */
  function settle(): void {
    clocks.stop()
    clearTimeout(trailer)
    caller.removeEventListener('abort', onAbort)
  }

  function fail(error: unknown): void {
    settle()
    head.reject(error)
    endInbox(inbox, { error })
  }

  function cut(reason: unknown): void {
    fail(reason)
    controller?.abort(new Error('nobody waits for the answer'))
  }

  /** Whether the upstream certainly did not process a failed request: it was not written, or lost in transit. */
  function isUnprocessed(error: unknown): boolean {
    if (sent === null) return !isClosing(error)
    return isCutByPeer(error) && sent.isLostOnTheWay()
  }

  const handler: ConnectedHandler = {
    onClient(given) {
      send = given
    },
    onRequestStart(given) {
      controller = given
      if (inbox.ending === null) sent = send?.() ?? null
      else given.abort(new Error('nobody waits for the answer'))
    },
    onResponseStart(_controller, status, headers) {
      if (status < 200) return
      hasHead = true
      head.resolve({ status, headers })
    },
    onResponseData(_controller, piece) {
      clocks.rest()
      if (isClosed) return
      pushPiece(inbox, piece)
      if (inbox.waitingBytes > WAITING_BYTES_MAX) controller?.pause()
    },
    onResponseEnd() {
      settle()
      endInbox(inbox, null)
    },
    onResponseError(_controller, error) {
      fail(hasHead ? toBodyError(error) : toConnectionError(error, isUnprocessed(error)))
    },
  }

  caller.addEventListener('abort', onAbort, { once: true })
  if (caller.aborted) onAbort()
  else pool.dispatch(request, handler)

  return {
    head: head.promise,
    read() {
      if (controller?.paused) controller.resume()
      const pieces = takePieces(inbox)
      if (pieces !== undefined) return pieces
      clocks.await()
      inbox.reader = Promise.withResolvers()
      return inbox.reader.promise.then(() => takePieces(inbox) ?? null)
    },
    close({ isComplete, isTrusted = true }) {
      if (isClosed) return
      isClosed = true
      if (!isTrusted) sent?.distrust()
      if (inbox.ending !== null) return
      if (!isComplete) {
        cut(new ApiError('client_closed_request'))
        return
      }
      settle()
      // The rest is read and discarded, which frees the connection.
      trailer = setTimeout(() => controller?.abort(new Error('no end')), TRAILER_MS_MAX).unref()
      if (controller?.paused) controller.resume()
    },
  }
}

/** The unread part of a body. */
interface Inbox {
  pieces: Uint8Array[]
  waitingBytes: number
  /** Resolves on the first chunk, so that the reader finds all chunks that arrived with it. */
  reader: PromiseWithResolvers<void> | null
  /** Ends the body; only the first call counts. */
  ending: { readonly failure: Failure | null } | null
}

interface Failure {
  readonly error: unknown
}

function pushPiece(inbox: Inbox, piece: Uint8Array): void {
  inbox.pieces.push(piece)
  inbox.waitingBytes += piece.length
  wake(inbox)
}

function endInbox(inbox: Inbox, failure: Failure | null): void {
  if (inbox.ending !== null) return
  inbox.ending = { failure }
  wake(inbox)
}

function wake(inbox: Inbox): void {
  inbox.reader?.resolve()
  inbox.reader = null
}

/** Returns the available chunks or the end; else undefined. @throws the error that the body failed with */
function takePieces(inbox: Inbox): BodyChunks | null | undefined {
  const { pieces } = inbox
  if (pieces.length > 0) {
    inbox.pieces = []
    inbox.waitingBytes = 0
    return pieces
  }
  if (inbox.ending === null) return undefined
  if (inbox.ending.failure !== null) throw inbox.ending.failure.error
  return null
}

/** The timeouts of one answer; `expire` is called at most once. */
function startClocks({ first_byte, idle, total }: ExchangeTimeouts, expire: () => void) {
  const whole = setTimeout(expire, total)
  const first = first_byte === null ? null : setTimeout(expire, first_byte)
  let silence: NodeJS.Timeout | null = null
  let isFirst = true
  let isAwaited = false
  return {
    /** Starts to count the upstream's silence: the reader is waiting. */
    await() {
      if (isFirst) return
      isAwaited = true
      // Refreshing one timer costs almost nothing compared with a new timer for each chunk.
      if (silence === null) silence = setTimeout(() => isAwaited && expire(), idle)
      else silence.refresh()
    },
    /** Stops counting: a chunk arrived, and a slow reader is not the upstream's fault. */
    rest() {
      isAwaited = false
      if (!isFirst) return
      isFirst = false
      if (first !== null) clearTimeout(first)
    },
    stop() {
      clearTimeout(whole)
      if (first !== null) clearTimeout(first)
      if (silence !== null) clearTimeout(silence)
    },
  }
}
