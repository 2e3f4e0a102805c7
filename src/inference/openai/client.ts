/**
 * HTTP to one upstream: a bounded pool, four timeouts, and an abort that cuts the connection in every
 * phase. It knows statuses and bytes, never what a completion is.
 */
import { Pool } from 'undici'
import { ApiError } from '../../errors.ts'
import { createConnector } from './connector.ts'
import { decodeBody } from './decoded-body.ts'
import { toBodyError, toConnectionError } from './errors.ts'

/** Limit: sockets to one upstream. */
const CONNECTIONS_MAX = 256
/** Limits of a model listing. */
const LISTING_MS_MAX = 5_000
const LISTING_BYTES_MAX = 4 * 1024 * 1024
/** How long the end of an answer that was read to its last event may take before the socket is cut. */
const TRAILER_MS_MAX = 1_000

export interface UpstreamTimeouts {
  /** Until the connection stands. */
  readonly connect: number
  /** From the request to the first byte of a stream. */
  readonly first_byte: number
  /** Between two pieces of an answer. */
  readonly idle: number
  /** For the whole answer. */
  readonly total: number
}

export interface UpstreamClientOptions {
  /** Address that ends before `/chat/completions`, with or without a slash; a query is kept. */
  readonly baseUrl: string
  /** Sent as Bearer token; null sends none. Secret. */
  readonly apiKey: string | null
  /** Milliseconds. */
  readonly timeoutMs: UpstreamTimeouts
}

export interface PostOptions {
  readonly requestId: string
  readonly signal: AbortSignal
  /** Whether the answer is to come in pieces; else only `total` bounds its first byte. */
  readonly isStream: boolean
}

/** An answer whose body is still to be read. The taker must close it. */
export interface UpstreamAnswer {
  readonly status: number
  /** As `text/event-stream`, lower case, without parameters. */
  readonly mediaType: string
  /** Whether the body can be read; false for a compression that is not known. */
  readonly isReadable: boolean
  readonly retryAfter: string | undefined
  /**
   * The next piece, decompressed, or null at the end.
   *
   * @throws ApiError upstream_timeout, upstream_error, upstream_invalid_response, or the reason of the signal
   */
  read(): Promise<Uint8Array | null>
  /** Lets go: a complete body frees the connection for reuse, any other cuts it. Idempotent. */
  close(options: { readonly isComplete: boolean }): void
}

export interface UpstreamClient {
  /** `host:port`, for taking it out of messages. */
  readonly host: string
  /** @throws ApiError upstream_unreachable, upstream_timeout, or the reason of the signal */
  post(body: string, options: PostOptions): Promise<UpstreamAnswer>
  /** The body of the model listing, parsed. @throws anything when there is none */
  listModels(): Promise<unknown>
  /** Cuts all connections. Idempotent. */
  close(): Promise<void>
}

/** Opens a pool; connections are made when they are needed. */
export function createUpstreamClient(options: UpstreamClientOptions): UpstreamClient {
  const { apiKey, timeoutMs } = options
  const url = new URL(options.baseUrl)
  const base = url.pathname.replace(/\/+$/, '')
  const path = `${base}/chat/completions${url.search}`
  const authorization = apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }
  const connector = createConnector({ timeout: timeoutMs.connect })
  /** Requests without an answer yet: while there are any, connections are wanted. */
  let waitingCount = 0
  const pool = new Pool(url.origin, {
    connections: CONNECTIONS_MAX,
    connect: connector.connect,
    // The timeouts below are exact and told apart; those of the pool are neither.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  let closing: Promise<void> | null = null

  async function post(body: string, { requestId, signal, isStream }: PostOptions) {
    signal.throwIfAborted()
    const exchange = startExchange(signal, timeoutMs, isStream)
    waitingCount += 1
    try {
      const response = await untilAborted(
        pool.request({
          path,
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            accept: isStream ? 'text/event-stream' : 'application/json',
            'accept-encoding': 'identity',
            'x-request-id': requestId,
            ...authorization,
          },
          body,
          signal: exchange.signal,
        }),
        exchange.signal,
      )
      return createAnswer(response, exchange)
    } catch (error) {
      exchange.settle()
      exchange.signal.throwIfAborted()
      throw toConnectionError(error)
    } finally {
      waitingCount -= 1
      if (waitingCount === 0) connector.cancel()
    }
  }

  async function listModels(): Promise<unknown> {
    const { statusCode, body } = await pool.request({
      path: `${base}/models${url.search}`,
      method: 'GET',
      headers: { accept: 'application/json', 'accept-encoding': 'identity', ...authorization },
      signal: AbortSignal.timeout(LISTING_MS_MAX),
    })
    const pieces: Uint8Array[] = []
    let byteCount = 0
    for await (const piece of body) {
      byteCount += piece.length
      if (byteCount > LISTING_BYTES_MAX) throw new ApiError('upstream_invalid_response')
      pieces.push(piece)
    }
    if (statusCode !== 200) throw new ApiError('upstream_error')
    return JSON.parse(new TextDecoder().decode(Buffer.concat(pieces)))
  }

  return {
    host: url.host,
    post,
    listModels,
    close() {
      closing ??= pool.destroy()
      return closing
    },
  }
}

type PoolResponse = Awaited<ReturnType<Pool['request']>>

function createAnswer(response: PoolResponse, exchange: Exchange): UpstreamAnswer {
  const { body, headers, statusCode } = response
  const raw = body.iterator({ destroyOnReturn: false })
  const pieces = decodeBody(raw, textOf(headers['content-encoding']))
  const isDecoded = pieces !== raw
  let isClosed = false
  return {
    status: statusCode,
    mediaType: textOf(headers['content-type']).split(';')[0]?.trim().toLowerCase() ?? '',
    isReadable: pieces !== null,
    retryAfter: textOf(headers['retry-after']) || undefined,
    async read() {
      if (pieces === null) throw new ApiError('upstream_invalid_response')
      exchange.await()
      try {
        const piece = await pieces.next()
        return piece.done ? null : (piece.value as Uint8Array)
      } catch (error) {
        exchange.signal.throwIfAborted()
        throw toBodyError(error)
      } finally {
        exchange.rest()
      }
    },
    close({ isComplete }) {
      if (isClosed) return
      isClosed = true
      exchange.settle()
      body.on('error', () => {})
      // What a decompressor has not read yet cannot be drained past it.
      if (!isComplete || isDecoded) {
        body.destroy()
        return
      }
      const cut = setTimeout(() => body.destroy(), TRAILER_MS_MAX).unref()
      body.once('close', () => clearTimeout(cut))
      raw.return?.().then(
        () => body.resume(),
        () => body.destroy(),
      )
    },
  }
}

function textOf(header: string | string[] | undefined): string {
  return Array.isArray(header) ? (header[0] ?? '') : (header ?? '')
}

/** The clock and the abort of one request. */
interface Exchange {
  readonly signal: AbortSignal
  /** The upstream is waited for: its silence counts. */
  await(): void
  /** The reader is at work: its slowness does not count. */
  rest(): void
  /** Ends clocks and leaves the caller's signal; nothing aborts any more. */
  settle(): void
}

function startExchange(
  caller: AbortSignal,
  timeoutMs: UpstreamTimeouts,
  isStream: boolean,
): Exchange {
  const abort = new AbortController()
  const expire = () => abort.abort(new ApiError('upstream_timeout'))
  const onAbort = () => abort.abort(caller.reason)
  caller.addEventListener('abort', onAbort, { once: true })
  const total = setTimeout(expire, timeoutMs.total)
  let silence = isStream ? setTimeout(expire, timeoutMs.first_byte) : undefined
  let isFirst = true
  return {
    signal: abort.signal,
    await() {
      if (!isFirst) silence = setTimeout(expire, timeoutMs.idle)
      isFirst = false
    },
    rest: () => clearTimeout(silence),
    settle() {
      clearTimeout(total)
      clearTimeout(silence)
      caller.removeEventListener('abort', onAbort)
    },
  }
}

/** The promise, or the signal's reason as soon as it aborts: a pool may still wait for a socket then. */
function untilAborted(request: Promise<PoolResponse>, signal: AbortSignal): Promise<PoolResponse> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    request.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
