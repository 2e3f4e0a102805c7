/**
 * Connections to one upstream: undici's pool of HTTP/1.1 connections, optionally through a proxy. It tracks what
 * undici does not expose: which connection carries a request, and whether that was used before.
 */
import { createRequire } from 'node:module'
import type { Socket } from 'node:net'
import type { buildConnector, Client, Dispatcher } from 'undici'
import { skipInterimAnswers } from './interim-answers.ts'

/** Loads undici with the first upstream: without it and the prices, a start takes 13 MB and 6 % of its time less. */
const loadUndici = (): typeof import('undici') => createRequire(import.meta.url)('undici')

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

/** The connection of a request. */
export interface Connection {
  /** Notes that a request is being written. */
  send(): SentRequest
  /** Cancels connecting. */
  abandon(): void
}

/** A handler that gets its connection before the request is written. */
export interface ConnectedHandler extends Dispatcher.DispatchHandler {
  onConnection(connection: Connection): void
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
  const { EnvHttpProxyAgent, Pool } = loadUndici()
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
    new Pool(to, { ...given, factory: createNotedClient })
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

/** One client of a pool: one connection at a time with one request on it. */
function createNotedClient(origin: URL, options: object): Client {
  const { connect, ...rest } = options as { readonly connect: buildConnector.connector }
  let socket: Socket | null = null
  /** Requests that were written to the socket. */
  let sentCount = 0
  /** Whether the upstream has sent anything since the last request. */
  let hasSpoken = false
  let skip: ReturnType<typeof skipInterimAnswers> | null = null

  const { Client } = loadUndici()
  const client = new Client(origin, {
    ...rest,
    connect(target, done) {
      sentCount = 0
      // Not in the types: the connector returns the connecting socket, except a proxy's connector.
      const connecting: unknown = connect(target, (...result) => {
        const [, connected = null] = result
        socket = connected
        if (connected !== null) {
          skip = skipInterimAnswers(connected, () => {
            hasSpoken = true
          })
        }
        done(...result)
      })
      socket = isSocket(connecting) ? connecting : null
    },
  })

  const connection: Connection = {
    send() {
      const own = socket
      const wasUsed = sentCount > 0
      const sentAtMs = performance.now()
      sentCount += 1
      hasSpoken = false
      skip?.expect()
      return {
        distrust: () => void own?.destroy(new Error('the upstream sent an invalid response')),
        isLostOnTheWay: () =>
          wasUsed && !hasSpoken && performance.now() - sentAtMs <= LOST_ON_THE_WAY_MS_MAX,
      }
    },
    abandon: () => void socket?.destroy(new Error('nobody waits for the connection')),
  }
  const dispatch = client.dispatch.bind(client)
  client.dispatch = (request, handler) => {
    ;(handler as Partial<ConnectedHandler>).onConnection?.(connection)
    return dispatch(request, handler)
  }
  return client
}

function isSocket(value: unknown): value is Socket {
  return typeof value === 'object' && value !== null && 'destroy' in value
}
