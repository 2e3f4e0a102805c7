/**
 * Connections to one upstream: undici's pool of HTTP/1.1 connections, through a proxy where one is set. What the pool
 * does not tell of its connections is noted here: which one carries a request, and whether it was used before.
 */
import type { Socket } from 'node:net'
import { type buildConnector, Client, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici'
import { skipInterimAnswers } from './interim-answers.ts'

/** Limit: sockets to one upstream. */
const CONNECTIONS_MAX = 4_096
/** Limit: bytes of the head of an answer. */
const HEAD_BYTES_MAX = 16 * 1024
/** A kept connection is given up this long before the upstream said that it would, so that no request meets its end. */
const KEPT_MARGIN_MS = 1_000
/**
 * A connection that was kept too long is closed by the upstream before the request on it arrives; that is seen within
 * the time of one way there and back. A close that comes later may be that of an upstream that was at work.
 */
const LOST_ON_THE_WAY_MS_MAX = 500

/** The proxies that upstreams are asked through, as addresses; an empty text is none. */
export interface ProxySettings {
  /** For upstreams of http. */
  readonly http: string
  /** For upstreams of https; where it is empty, `http` serves these, too. */
  readonly https: string
  /** Hosts that are asked directly, as in NO_PROXY. */
  readonly except: string
}

interface UpstreamPoolOptions {
  /** Milliseconds until a connection stands. */
  readonly connectMs: number
  /** Certificates (PEM) that are trusted in place of the default ones; null: those. */
  readonly ca: string | null
  readonly proxies: ProxySettings | null
}

/** A request that was written to a connection. */
export interface SentRequest {
  /** Cuts the connection, even when another request is on it by now. */
  distrust(): void
  /** Whether the connection, used before, closed without a byte so soon that the request cannot have been read. */
  isLostOnTheWay(): boolean
}

/** The connection of a request. */
export interface Connection {
  /** Notes that a request is written now. */
  send(): SentRequest
  /** Gives up connecting. */
  abandon(): void
}

/** A handler of the pool that is told its connection before the request is written. */
export interface ConnectedHandler extends Dispatcher.DispatchHandler {
  onConnection(connection: Connection): void
}

/**
 * Opens a pool; connections are made when they are needed.
 *
 * @param origin - scheme, host and port of the upstream
 *
 * Spec: §8 (not shown).
 * Choice: no HTTP/2, even where an upstream offers it: an answer has a connection of its own, so that one that
 * is cut or slow never holds up another.
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
    // The clocks of an exchange are exact and told apart; those of the pool are neither.
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
    // To the proxy itself, whose answer to CONNECT belongs to connecting.
    clientFactory: (to, given) => new Pool(to, { ...given, headersTimeout: connectMs }),
    // Never undefined, or undici would read the environment by itself.
    httpProxy: proxies.http,
    httpsProxy: proxies.https,
    noProxy: proxies.except,
  })
}

/** One client of a pool, which has one connection at a time and one request on it. */
function createNotedClient(origin: URL, options: object): Client {
  const { connect, ...rest } = options as { readonly connect: buildConnector.connector }
  let socket: Socket | null = null
  /** Requests that were written to the socket. */
  let sentCount = 0
  /** Whether the upstream has said anything since the last one. */
  let hasSpoken = false
  let skip: ReturnType<typeof skipInterimAnswers> | null = null

  const client = new Client(origin, {
    ...rest,
    connect(target, done) {
      sentCount = 0
      // The types leave out that the connector gives back the socket that is to connect; a proxy's does not.
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
        distrust: () => void own?.destroy(new Error('the upstream gave an answer that is none')),
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
