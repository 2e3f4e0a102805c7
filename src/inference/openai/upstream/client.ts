/**
 * HTTP client for one upstream: a bounded pool, four timeouts, and an abort that cuts the connection in
 * any phase. It knows statuses and bytes, but not what a completion is.
 */
import { ApiError } from '../../../errors.ts'
import { decodeBody } from './decoded-body.ts'
import { toBodyError } from './errors.ts'
import {
  type BodyChunks,
  type CloseOptions,
  type Exchange,
  type ExchangeTimeouts,
  type ResponseHead,
  startExchange,
} from './exchange.ts'
import { createRedact, type Redact } from './redaction.ts'
import { createUpstreamPool, type ProxySettings } from './upstream-pool.ts'

/** Limits of a model listing. */
const LISTING_MS_MAX = 5_000
const LISTING_BYTES_MAX = 4 * 1024 * 1024

export interface UpstreamTimeouts extends ExchangeTimeouts {
  /** Until the connection is open. */
  readonly connect: number
  /** From the request to the first byte of a stream. */
  readonly first_byte: number
}

export interface UpstreamClientOptions {
  /** Address that ends before `/chat/completions`, with or without a slash; a query is kept. */
  readonly baseUrl: string
  /** Null sends none. Secret. */
  readonly apiKey: string | null
  /** Header of the key. Default: authorization, as Bearer token. */
  readonly keyHeader?: 'authorization' | 'x-api-key'
  /** Milliseconds. */
  readonly timeoutMs: UpstreamTimeouts
  /** Certificates (PEM) that are trusted in place of the default ones. Default: those. */
  readonly ca?: string | null
  /** Default: the upstream is asked directly. */
  readonly proxies?: ProxySettings | null
}

interface PostOptions {
  readonly requestId: string
  readonly signal: AbortSignal
  /** Appended to the base address, such as `/chat/completions`. */
  readonly path: string
  /** Whether the path replaces the `/v1` at the end of the base address. */
  readonly isAtRoot?: boolean
  /** Whether the answer is streamed; if not, only `total` bounds its first byte. */
  readonly isStream: boolean
  /** Media type of the body. Default: JSON. */
  readonly contentType?: string
  /** Accepted media types. Default: JSON, or the events of a stream. */
  readonly accept?: string
  /** Further headers, by lower-case name. Default: none. */
  readonly headers?: Readonly<Record<string, string>>
  /** Query without its `?`, which follows that of the base address. Default: none. */
  readonly query?: string
}

/** An answer with an unread body. The caller must close it. */
export interface UpstreamResponse {
  readonly status: number
  /** Such as `text/event-stream`; lower case, without parameters. */
  mediaType(): string
  /** Whether the body can be read; false for an unknown compression. */
  readonly isReadable: boolean
  readonly retryAfter: string | undefined
  /** US dollars, as LiteLLM's proxy reports them. */
  readonly cost: string | undefined
  /**
   * Returns the chunks received since the last read, decompressed and at least one, or null at the end; a promise
   * only if none has arrived yet. One read at a time.
   *
   * @throws ApiError upstream_timeout, upstream_error, upstream_invalid_response, or the reason of the signal
   */
  read(): BodyChunks | null | Promise<BodyChunks | null>
  /** Idempotent. */
  close(options: CloseOptions): void
}

export interface UpstreamClient {
  /** For all texts of the upstream that leave this server. */
  readonly redact: Redact
  /** @throws ApiError upstream_unreachable, upstream_timeout, or the reason of the signal */
  post(body: string | Uint8Array, options: PostOptions): Promise<UpstreamResponse>
  /** Returns the parsed body of the model listing. @throws any error if there is none */
  listModels(): Promise<unknown>
  /** Cuts all connections. Idempotent. */
  close(): Promise<void>
}

/** Opens a pool; connections are opened on demand. */
export function createUpstreamClient(options: UpstreamClientOptions): UpstreamClient {
  const { apiKey, timeoutMs, ca = null, proxies = null } = options
  const url = new URL(options.baseUrl)
  const { origin } = url
  const base = url.pathname.replace(/\/+$/, '')
  const common = {
    'accept-encoding': 'identity',
    ...toKeyHeader(options),
  }
  const pool = createUpstreamPool(origin, { connectMs: timeoutMs.connect, ca, proxies })

  const root = base.replace(/\/v1$/, '')

  function post(body: string | Uint8Array, options: PostOptions) {
    const { path, isAtRoot = false, requestId, signal, isStream, query = '' } = options
    const search = [url.search.slice(1), query].filter(Boolean).join('&')
    const { accept = isStream ? 'text/event-stream' : 'application/json' } = options
    const contentType = options.contentType ?? 'application/json'
    const request = {
      origin,
      path: `${isAtRoot ? root : base}${path}${search && `?${search}`}`,
      method: 'POST',
      headers: {
        ...options.headers,
        'content-type': contentType,
        ...common,
        accept,
        'x-request-id': requestId,
      },
      body,
    } as const
    const { first_byte, idle, total } = timeoutMs
    const timeouts = { first_byte: isStream ? first_byte : null, idle, total }
    const exchange = startExchange(pool, request, signal, timeouts)
    return exchange.head.then((head) => createAnswer(head, exchange))
  }

  let closing: Promise<void> | null = null

  async function listModels(): Promise<unknown> {
    const timeouts = { first_byte: null, idle: LISTING_MS_MAX, total: LISTING_MS_MAX }
    const never = new AbortController().signal
    const request = {
      origin,
      path: `${base}/models${url.search}`,
      method: 'GET',
      headers: { ...common, accept: 'application/json' },
    } as const
    const exchange = startExchange(pool, request, never, timeouts)
    const answer = createAnswer(await exchange.head, exchange)
    try {
      const { bytes, isWhole } = await readBytes(answer, LISTING_BYTES_MAX)
      if (!isWhole) throw new ApiError('upstream_invalid_response')
      if (answer.status !== 200) throw new ApiError('upstream_error')
      return JSON.parse(new TextDecoder().decode(bytes))
    } finally {
      answer.close({ isComplete: false })
    }
  }

  return {
    redact: createRedact(url, apiKey),
    post,
    listModels,
    close() {
      closing ??= pool.destroy()
      return closing
    },
  }
}

function toKeyHeader({ apiKey, keyHeader = 'authorization' }: UpstreamClientOptions) {
  if (apiKey === null) return {}
  return { [keyHeader]: keyHeader === 'authorization' ? `Bearer ${apiKey}` : apiKey }
}

/** Reads at most `bytesMax` of the body. */
export async function readBytes(
  answer: UpstreamResponse,
  bytesMax: number,
): Promise<{ bytes: Uint8Array; isWhole: boolean }> {
  const taken: Uint8Array[] = []
  let byteCount = 0
  while (byteCount <= bytesMax) {
    const next = answer.read()
    const pieces = next instanceof Promise ? await next : next
    if (pieces === null) break
    for (const piece of pieces) {
      byteCount += piece.length
      if (byteCount > bytesMax) break
      taken.push(piece)
    }
  }
  const [first] = taken
  const bytes = taken.length === 1 && first ? first : Buffer.concat(taken)
  return { bytes, isWhole: byteCount <= bytesMax }
}

function createAnswer({ status, headers }: ResponseHead, exchange: Exchange): UpstreamResponse {
  const coding = joinValues(headers['content-encoding'])
  const decoded = coding === '' ? null : decodeBody(iteratePieces(exchange), coding)
  return {
    status,
    mediaType: () => mediaTypeOf(joinValues(headers['content-type'])),
    isReadable: coding === '' || decoded !== null,
    retryAfter: joinValues(headers['retry-after']) || undefined,
    cost: joinValues(headers['x-litellm-response-cost']) || undefined,
    read: coding === '' ? exchange.read : () => readDecoded(decoded),
    close(how) {
      exchange.close(how)
      // Frees the decompressor, which may still hold unread data.
      decoded?.return?.().catch(() => {})
    },
  }
}

/** Joins the values of a repeated header into one list. */
function joinValues(header: string | string[] | undefined): string {
  return Array.isArray(header) ? header.join(',') : (header ?? '')
}

/** Returns the first value of a repeated header. */
function mediaTypeOf(contentType: string): string {
  return contentType.split(/[;,]/)[0]?.trim().toLowerCase() ?? ''
}

/** @param pieces - null for an unknown compression */
async function readDecoded(pieces: AsyncIterator<Uint8Array> | null): Promise<BodyChunks | null> {
  if (pieces === null) throw new ApiError('upstream_invalid_response')
  try {
    const { done, value } = await pieces.next()
    return done ? null : [value]
  } catch (error) {
    throw toBodyError(error)
  }
}

async function* iteratePieces({ read }: Exchange): AsyncGenerator<Uint8Array> {
  for (let pieces = await read(); pieces !== null; pieces = await read()) yield* pieces
}
