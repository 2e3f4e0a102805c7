/**
 * Connections to one upstream: each is kept for the next request as long as the upstream keeps it.
 *
 * Why not a general HTTP client: what it makes and checks for each request and answer costs this server more
 * than all that it does itself with both.
 */
import { type Connection, createConnection, type Receiver, type Sending } from './connection.ts'
import type { Connect } from './connector.ts'

export interface ConnectionPool {
  /**
   * Sends a request on a connection that is free, else on a new one, else when one becomes free.
   *
   * @param text - the whole request
   */
  send(text: string, receiver: Receiver): Sending
  /** Cuts all connections; requests on their way fail. Idempotent. */
  close(): void
}

export interface ConnectionPoolOptions {
  readonly connect: Connect
  /** Limit: connections at once. */
  readonly connectionsMax: number
  /** A clock in milliseconds. */
  readonly nowMs: () => number
}

/** How long a connection is kept whose upstream says nothing of it. */
const KEPT_MS = 4_000
/** Limit of what an upstream may ask for. */
const KEPT_MS_MAX = 600_000
/** A connection is given up this long before its upstream does: no request must meet its end. */
const MARGIN_MS = 1_000
/** How often connections are looked for that were kept long enough. */
const SWEEP_MS = 1_000

interface Kept {
  readonly connection: Connection
  readonly untilMs: number
}

/** A request that waits for a connection, or did. */
interface Task {
  readonly text: string
  readonly receiver: Receiver
  /** Null while it waits. */
  sending: Sending | null
}

/** A pool without connections; they are made when they are needed. */
export function createConnectionPool(options: ConnectionPoolOptions): ConnectionPool {
  const { connect, connectionsMax, nowMs } = options
  const open = new Set<Connection>()
  /** The one that was used last is taken first, so that those that are not needed grow old. */
  let kept: Kept[] = []
  /** As many as callers admit. */
  const waiting = new Set<Task>()
  let sweeper: NodeJS.Timeout | null = null
  let isClosed = false

  function openConnection(): Connection {
    const connection = createConnection(connect, {
      onFree(keptS) {
        const askedMs = keptS === null ? KEPT_MS : keptS * 1000 - MARGIN_MS
        kept.push({ connection, untilMs: nowMs() + Math.min(askedMs, KEPT_MS_MAX) })
        sweeper ??= setInterval(sweep, SWEEP_MS).unref()
        startWaiting()
      },
      onClosed() {
        open.delete(connection)
        kept = kept.filter((other) => other.connection !== connection)
        startWaiting()
      },
    })
    open.add(connection)
    return connection
  }

  function takeKept(): Connection | null {
    for (let last = kept.pop(); last !== undefined; last = kept.pop()) {
      if (last.untilMs > nowMs() && last.connection.isOpen()) return last.connection
      last.connection.close()
    }
    return null
  }

  function findConnection(): Connection | null {
    return takeKept() ?? (open.size < connectionsMax ? openConnection() : null)
  }

  function startWaiting(): void {
    if (waiting.size === 0 || isClosed) return
    const connection = findConnection()
    const [next] = waiting
    if (connection === null || next === undefined) return
    waiting.delete(next)
    next.sending = connection.send(next.text, next.receiver)
  }

  function wait(task: Task): Sending {
    waiting.add(task)
    return {
      pause: () => task.sending?.pause(),
      resume: () => task.sending?.resume(),
      abort() {
        waiting.delete(task)
        task.sending?.abort()
      },
      distrust: () => task.sending?.distrust(),
    }
  }

  function sweep(): void {
    const now = nowMs()
    for (const { connection, untilMs } of kept) if (untilMs <= now) connection.close()
    if (open.size > 0) return
    clearInterval(sweeper ?? undefined)
    sweeper = null
  }

  return {
    send(text, receiver) {
      if (isClosed) {
        queueMicrotask(() => receiver.onError(closedError()))
        return ENDED
      }
      const connection = findConnection()
      if (connection !== null) return connection.send(text, receiver)
      return wait({ text, receiver, sending: null })
    },
    close() {
      isClosed = true
      clearInterval(sweeper ?? undefined)
      for (const connection of open) connection.close()
      for (const { receiver } of waiting) receiver.onError(closedError())
      waiting.clear()
    },
  }
}

/** What is left of a request that has ended before it was sent. */
const ENDED: Sending = { pause() {}, resume() {}, abort() {}, distrust() {} }

function closedError(): Error {
  return new Error('the connections are closed')
}
