/**
 * HTTP to one upstream: a bounded pool, four timeouts, and an abort that cuts the connection in every
 * phase. It knows statuses and bytes, never what a completion is.
 */
import { Pool } from 'undici'
import { ApiError } from '../../errors.ts'
import { createConnector } from './connector.ts'
import { decodeBody } from './decoded-body.ts'
import { toBodyError } from './errors.ts'
import { type AnswerHead, type Exchange, startExchange } from './exchange.ts'

/** Limit: sockets to one upstream. */
const CONNECTIONS_MAX = 4_096
/** Limits of a model listing. */
const LISTING_MS_MAX = 5_000
const LISTING_BYTES_MAX = 4 * 1024 * 1024

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
  const ownHeaders = {
    'content-type': 'application/json',
    'accept-encoding': 'identity',
    ...authorization,
  }
  const wholeHeaders = { ...ownHeaders, accept: 'application/json' }
  const streamHeaders = { ...ownHeaders, accept: 'text/event-stream' }
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
    const headers = {
      ...(isStream ? streamHeaders : wholeHeaders),
      'x-request-id': requestId,
    }
    const request = { path, method: 'POST', headers, body } as const
    const { first_byte, idle, total } = timeoutMs
    const timeouts = { first_byte: isStream ? first_byte : null, idle, total }
    const exchange = startExchange(pool, request, signal, timeouts)
    return createAnswer(await whileWaiting(exchange.head), exchange)
  }

  async function whileWaiting<T>(head: Promise<T>): Promise<T> {
    waitingCount += 1
    try {
      return await head
    } finally {
      waitingCount -= 1
      if (waitingCount === 0) connector.cancel()
    }
  }

  async function listModels(): Promise<unknown> {
    const listing = pool.request({
      path: `${base}/models${url.search}`,
      method: 'GET',
      headers: { accept: 'application/json', 'accept-encoding': 'identity', ...authorization },
      signal: AbortSignal.timeout(LISTING_MS_MAX),
    })
    const { statusCode, headers, body } = await whileWaiting(listing)
    const raw = body[Symbol.asyncIterator]() as AsyncIterableIterator<Uint8Array>
    const decoded = decodeBody(raw, textOf(headers['content-encoding']))
    if (decoded === null) throw new ApiError('upstream_invalid_response')
    const pieces: Uint8Array[] = []
    let byteCount = 0
    for await (const piece of decoded) {
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

function createAnswer({ status, headers }: AnswerHead, exchange: Exchange): UpstreamAnswer {
  const coding = textOf(headers['content-encoding'])
  const decoded = coding === '' ? null : decodeBody(iteratePieces(exchange), coding)
  return {
    status,
    mediaType: textOf(headers['content-type']).split(';')[0]?.trim().toLowerCase() ?? '',
    isReadable: coding === '' || decoded !== null,
    retryAfter: textOf(headers['retry-after']) || undefined,
    read: coding === '' ? exchange.read : () => readDecoded(decoded),
    close(how) {
      exchange.close(how)
      // Frees the decompressor, which may still hold what nobody will read.
      decoded?.return?.().catch(() => {})
    },
  }
}

/** @param pieces - null for a compression that is not known */
async function readDecoded(pieces: AsyncIterator<Uint8Array> | null): Promise<Uint8Array | null> {
  if (pieces === null) throw new ApiError('upstream_invalid_response')
  try {
    const { done, value } = await pieces.next()
    return done ? null : value
  } catch (error) {
    throw error instanceof ApiError ? error : toBodyError(error)
  }
}

async function* iteratePieces({ read }: Exchange): AsyncGenerator<Uint8Array> {
  for (let piece = await read(); piece !== null; piece = await read()) yield piece
}

function textOf(header: string | string[] | undefined): string {
  return Array.isArray(header) ? (header[0] ?? '') : (header ?? '')
}
