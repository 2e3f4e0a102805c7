/**
 * The `fetch` that packages of the AI SDK are given: a request over the same bounded pools, timeouts and limits as those of
 * other upstreams. It follows no redirects, and knows no address but that of the provider.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import { ApiError } from '../../errors.ts'
import type { UpstreamTimeouts } from '../openai/upstream/client.ts'
import { decodeBody } from '../openai/upstream/decoded-body.ts'
import { responseTooLarge, toBodyError } from '../openai/upstream/errors.ts'
import { type Exchange, startExchange } from '../openai/upstream/exchange.ts'
import { createUpstreamPool, type ProxySettings } from '../openai/upstream/upstream-pool.ts'

/** Limits of a body, in bytes. */
const BODY_BYTES_MAX = 64 * 1024 * 1024
const STREAM_BYTES_MAX = 256 * 1024 * 1024
const ERROR_BYTES_MAX = 64 * 1024
/** Limit: addresses of one provider without a base address, such as one for each region. */
const ORIGINS_MAX = 8

/** One call of a package, whose requests belong to it. */
export interface ProviderCall {
  readonly requestId: string
  /** Cuts the connection. */
  readonly signal: AbortSignal
  readonly isStream: boolean
  /** The first error of the connection, which packages wrap or replace. */
  failure: ApiError | null
  /** Takes the body of a request that is only rehearsed and not sent. Default: requests are sent. */
  readonly rehearse?: (body: string) => void
}

interface ProviderFetchOptions {
  /** The only address that is asked; null: the one that the package knows, if it is https. */
  readonly baseUrl: string | null
  readonly timeoutMs: UpstreamTimeouts
  readonly ca: string | null
  readonly proxies: ProxySettings | null
}

export interface ProviderFetch {
  readonly fetch: typeof globalThis.fetch
  /** Runs a function of the package; its requests have the signal and the timeouts of the call. */
  run<T>(call: ProviderCall, start: () => PromiseLike<T>): Promise<T>
  close(): Promise<void>
}

export function createProviderFetch(options: ProviderFetchOptions): ProviderFetch {
  const calls = new AsyncLocalStorage<ProviderCall>()
  const pools = new Map<string, Dispatcher>()
  const own = options.baseUrl === null ? null : new URL(options.baseUrl).origin

  function poolOf(origin: string): Dispatcher {
    const known = pools.get(origin)
    if (known !== undefined) return known
    const isAllowed = own === null ? origin.startsWith('https://') : origin === own
    if (!isAllowed || pools.size >= ORIGINS_MAX) {
      const cause = new Error('the package asks an address that is not its own')
      throw new ApiError('upstream_error', { cause })
    }
    const { timeoutMs, ca, proxies } = options
    const pool = createUpstreamPool(origin, { connectMs: timeoutMs.connect, ca, proxies })
    pools.set(origin, pool)
    return pool
  }

  async function send(call: ProviderCall, url: URL, init: RequestInit): Promise<Response> {
    const { first_byte, idle, total } = options.timeoutMs
    const timeouts = { first_byte: call.isStream ? first_byte : null, idle, total }
    const request = {
      origin: url.origin,
      path: url.pathname + url.search,
      method: (init.method ?? 'GET') as Dispatcher.HttpMethod,
      headers: {
        ...Object.fromEntries(new Headers(init.headers)),
        'accept-encoding': 'identity',
        'x-request-id': call.requestId,
      },
      body: bodyOf(init),
    }
    const exchange = startExchange(poolOf(url.origin), request, call.signal, timeouts)
    const { status, headers } = await exchange.head
    return toResponse(status, headers, exchange, call)
  }

  async function fetchOf(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
    const call = calls.getStore()
    // Packages make requests only within calls.
    if (call === undefined) throw new ApiError('internal_error')
    if (call.rehearse !== undefined) {
      call.rehearse(String(init.body ?? ''))
      return new Response('', { headers: { 'content-type': 'text/event-stream' } })
    }
    try {
      const url = new URL(input instanceof Request ? input.url : String(input))
      return await send(call, url, init)
    } catch (error) {
      throw keepFailure(call, error)
    }
  }

  return {
    fetch: fetchOf as typeof globalThis.fetch,
    run: async (call, start) => calls.run(call, start),
    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()))
    },
  }
}

function bodyOf({ body }: RequestInit): string | Uint8Array | null {
  if (body === undefined || body === null) return null
  if (typeof body === 'string' || body instanceof Uint8Array) return body
  throw new ApiError('upstream_error', { cause: new Error('the package sends a form') })
}

function keepFailure(call: ProviderCall, error: unknown): unknown {
  if (error instanceof ApiError) call.failure ??= error
  return error
}

/** Statuses whose responses have no body. */
const EMPTY: ReadonlySet<number> = new Set([204, 205, 304])
/** What the package must not see: the body is decoded. */
const OWN_HEADERS: ReadonlySet<string> = new Set(['content-encoding', 'content-length'])

function toResponse(
  status: number,
  given: IncomingHttpHeaders,
  exchange: Exchange,
  call: ProviderCall,
): Response {
  const headers = new Headers()
  for (const [name, value] of Object.entries(given)) {
    if (!OWN_HEADERS.has(name) && value !== undefined) headers.set(name, String(value))
  }
  if (EMPTY.has(status)) {
    exchange.close({ isComplete: true })
    return new Response(null, { status, headers })
  }
  const isError = status < 200 || status > 299
  const bytesMax = isError ? ERROR_BYTES_MAX : call.isStream ? STREAM_BYTES_MAX : BODY_BYTES_MAX
  const chunks = readChunks(exchange, String(given['content-encoding'] ?? ''))
  return new Response(toStream(chunks, exchange, call, { bytesMax, isCut: isError }), {
    status,
    headers,
  })
}

async function* readRaw({ read }: Exchange): AsyncGenerator<Uint8Array> {
  for (let chunks = await read(); chunks !== null; chunks = await read()) yield* chunks
}

function readChunks(exchange: Exchange, coding: string): AsyncIterator<Uint8Array> {
  const decoded = decodeBody(readRaw(exchange), coding)
  if (decoded !== null) return decoded
  const cause = new Error('unknown compression')
  throw new ApiError('upstream_invalid_response', { cause })
}

/** @param limit - `isCut`: a longer body ends there; if not, it is an error */
function toStream(
  chunks: AsyncIterator<Uint8Array>,
  exchange: Exchange,
  call: ProviderCall,
  limit: { readonly bytesMax: number; readonly isCut: boolean },
): ReadableStream<Uint8Array> {
  let byteCount = 0
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await chunks.next()
        byteCount += value?.length ?? 0
        const isTooLong = byteCount > limit.bytesMax
        if (isTooLong && !limit.isCut) throw responseTooLarge()
        if (!done && !isTooLong) {
          controller.enqueue(value)
          return
        }
        exchange.close({ isComplete: !isTooLong })
        controller.close()
      } catch (error) {
        exchange.close({ isComplete: false, isTrusted: false })
        // The reason of an abort is not a failure.
        const failure = call.signal.aborted ? error : keepFailure(call, toBodyError(error))
        controller.error(failure)
      }
    },
    cancel() {
      exchange.close({ isComplete: false })
    },
  })
}
