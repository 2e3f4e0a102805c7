/**
 * One request and its answer over a pool of connections: its clocks, its abort, its pace. Why not the pool's own
 * `request`: it makes a Node stream, an iterator and two abort signals for each answer.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import { ApiError } from '../../../errors.ts'
import { isClosing, isCutByPeer, toBodyError, toConnectionError } from './errors.ts'
import type { ConnectedHandler, Connection, SentRequest } from './upstream-pool.ts'

/** Limit: bytes of an answer that may wait for their reader before the socket is no longer read. */
const WAITING_BYTES_MAX = 64 * 1024
/** How long the end of an answer that was read to its last event may take before the socket is cut. */
const TRAILER_MS_MAX = 1_000

interface ExchangeTimeouts {
  /** From the request to the first byte of the body; null: only `total` bounds it. */
  readonly first_byte: number | null
  /** Between two pieces of an answer. */
  readonly idle: number
  /** For the whole answer. */
  readonly total: number
}

/** How an answer is let go: a complete body frees the connection for reuse, any other cuts it. */
export interface CloseOptions {
  readonly isComplete: boolean
  /** False for what was no answer at all: its connection is not used again, complete or not. */
  readonly isTrusted?: boolean
}

export interface ResponseHead {
  readonly status: number
  readonly headers: IncomingHttpHeaders
}

/** Parts of a body in their order. */
export type Pieces = readonly Uint8Array[]

export interface Exchange {
  /** @throws ApiError upstream_unreachable, upstream_timeout, or the reason of the signal */
  readonly head: Promise<ResponseHead>
  /**
   * The pieces of the body that came since the last read, as they came from the socket and at least one, or null at
   * the end; a promise only where none has come yet. One read at a time.
   *
   * @throws ApiError upstream_timeout, upstream_error, or the reason of the signal
   */
  read(): Pieces | null | Promise<Pieces | null>
  /** Idempotent. */
  close(options: CloseOptions): void
}

/**
 * Sends a request. The clocks count while the upstream is waited for, not while the reader is at work.
 *
 * @param caller - cuts the connection in every phase
 */
export function startExchange(
  pool: Dispatcher,
  request: Dispatcher.DispatchOptions,
  caller: AbortSignal,
  timeouts: ExchangeTimeouts,
): Exchange {
  const head = Promise.withResolvers<ResponseHead>()
  const inbox: Inbox = { pieces: [], waitingBytes: 0, reader: null, ending: null }
  let connection: Connection | null = null
  /** Of the request once it is written. */
  let controller: Dispatcher.DispatchController | null = null
  let sent: SentRequest | null = null
  let hasHead = false
  let isClosed = false
  let trailer: NodeJS.Timeout | undefined
  const clocks = startClocks(timeouts, () => cut(new ApiError('upstream_timeout')))
  const onAbort = () => cut(caller.reason)

  /** Ends clocks and leaves the caller's signal. */
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
    if (controller !== null) controller.abort(new Error('nobody waits for the answer'))
    else connection?.abandon()
  }

  /** Whether the upstream surely did not process a request that failed: it was not written, or lost on its way. */
  function isUnprocessed(error: unknown): boolean {
    if (sent === null) return !isClosing(error)
    return isCutByPeer(error) && sent.isLostOnTheWay()
  }

  const handler: ConnectedHandler = {
    onConnection(given) {
      connection = given
    },
    onRequestStart(given) {
      controller = given
      if (inbox.ending === null) sent = connection?.send() ?? null
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
      // The rest is read and thrown away, which frees the connection.
      trailer = setTimeout(() => controller?.abort(new Error('no end')), TRAILER_MS_MAX).unref()
      if (controller?.paused) controller.resume()
    },
  }
}

/** What came of a body and was not read yet. */
interface Inbox {
  pieces: Uint8Array[]
  waitingBytes: number
  /** Woken by the first piece, so that it finds all that came with it. */
  reader: PromiseWithResolvers<void> | null
  /** The first end counts. */
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

/** The pieces or the end where they are there; else undefined. @throws what the body failed with */
function takePieces(inbox: Inbox): Pieces | null | undefined {
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

/** The clocks of one answer; `expire` is called at most once. */
function startClocks({ first_byte, idle, total }: ExchangeTimeouts, expire: () => void) {
  const whole = setTimeout(expire, total)
  const first = first_byte === null ? null : setTimeout(expire, first_byte)
  let silence: NodeJS.Timeout | null = null
  let isFirst = true
  let isAwaited = false
  return {
    /** The upstream is waited for: its silence counts. */
    await() {
      if (isFirst) return
      isAwaited = true
      // Why not a new timer for each piece: this one is moved, which costs next to nothing.
      if (silence === null) silence = setTimeout(() => isAwaited && expire(), idle)
      else silence.refresh()
    },
    /** A piece came: the reader is at work, and its slowness does not count. */
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
