/**
 * Connections to one upstream: undici's pool of HTTP/1.1 connections, optionally through a proxy. It tracks what
 * undici does not expose: which connection carries a request, and whether that was used before.
 */
import type { Socket } from 'node:net'
import { type buildConnector, Client, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici'

/** Limit: sockets to one upstream. */
const CONNECTIONS_MAX = 4_096
/** Limit: bytes of the header section of an answer. */
const HEAD_BYTES_MAX = 16 * 1024
/** An idle connection is closed this long before the upstream's announced timeout, so that no request meets it. */
const KEPT_MARGIN_MS = 1_000
/**
 * If a connection was idle too long, the upstream closes it before a new request arrives, which shows within one
 * round trip. After a later close the upstream may already have been working on the request.
 */
const LOST_ON_THE_WAY_MS_MAX = 500

/** Addresses of the proxies for upstreams; empty for none. */
export interface ProxySettings {
  /** For http upstreams. */
  readonly http: string
  /** For https upstreams; if empty, `http` is used for these, too. */
  readonly https: string
  /** Hosts reached directly, as in NO_PROXY. */
  readonly except: string
}

interface UpstreamPoolOptions {
  /** Milliseconds to open a connection. */
  readonly connectMs: number
  /** Certificates (PEM) that are trusted in place of the default ones; null: those. */
  readonly ca: string | null
  readonly proxies: ProxySettings | null
}

/** A request that was written to a connection. */
export interface SentRequest {
  /** Cuts the connection, even if it carries another request by now. */
  distrust(): void
  /** Whether a reused connection closed, without a byte, so soon that the request cannot have been read. */
  isLostOnTheWay(): boolean
}

/** A handler that gets, before its request is written, a function to call when it is. */
export interface ConnectedHandler extends Dispatcher.DispatchHandler {
  onClient(send: () => SentRequest): void
}

/**
 * Opens a pool; connections are made when they are needed.
 *
 * @param origin - scheme, host and port of the upstream
 *
 * Spec: §8 (not shown).
 * Choice: no HTTP/2, even if an upstream offers it: each answer has its own connection, so that a cut or slow
 * one never delays another.
 */
export function createUpstreamPool(
  origin: string,
  { connectMs, ca, proxies }: UpstreamPoolOptions,
): Dispatcher {
  const tls = ca === null ? {} : { ca }
  const options = {
    connections: CONNECTIONS_MAX,
    allowH2: false,
    connectTimeout: connectMs,
    connect: tls,
    maxHeaderSize: HEAD_BYTES_MAX,
    keepAliveTimeoutThreshold: KEPT_MARGIN_MS,
    // An exchange has its own timeouts, which are exact and distinguishable; those of the pool are neither.
    headersTimeout: 0,
    bodyTimeout: 0,
  }
  const openPool = (to: string | URL, given: object) =>
    new Pool(to, { ...given, factory: createTrackedClient })
  if (proxies === null) return openPool(origin, options)
  return new EnvHttpProxyAgent({
    ...options,
    requestTls: tls,
    factory: openPool,
    // Applies to the proxy itself, whose answer to CONNECT is part of connecting.
    clientFactory: (to, given) => new Pool(to, { ...given, headersTimeout: connectMs }),
    // Never undefined, or undici would read the environment itself.
    httpProxy: proxies.http,
    httpsProxy: proxies.https,
    noProxy: proxies.except,
  })
}

/** Creates one client of a pool: one connection at a time with one request on it. */
function createTrackedClient(origin: URL, options: object): Dispatcher {
  const { connect, ...rest } = options as { readonly connect: buildConnector.connector }
  let socket: Socket | null = null
  /** Requests that were written to the socket. */
  let sentCount = 0

  const client = new Client(origin, {
    ...rest,
    connect(target, done) {
      socket = null
      sentCount = 0
      connect(target, (...result) => {
        socket = result[1]
        done(...result)
      })
    },
  })

  function send(): SentRequest {
    const own = socket
    const wasUsed = sentCount > 0
    const sentAtMs = performance.now()
    const bytesBefore = own?.bytesRead ?? 0
    sentCount += 1
    return {
      distrust: () => void own?.destroy(new Error('the upstream sent an invalid response')),
      isLostOnTheWay: () =>
        wasUsed &&
        own?.bytesRead === bytesBefore &&
        performance.now() - sentAtMs <= LOST_ON_THE_WAY_MS_MAX,
    }
  }

  return client.compose((dispatch) => (request, handler) => {
    ;(handler as Partial<ConnectedHandler>).onClient?.(send)
    return dispatch(request, handler)
  })
}
