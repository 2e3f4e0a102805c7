/**
 * Connections to upstreams that may send interim answers (`100 Continue`, `103 Early Hints`) unasked: they
 * are skipped before the HTTP client reads, which would take the first of them for a broken answer.
 */
import type { Socket } from 'node:net'
import { buildConnector } from 'undici'

/** Limit: bytes of one interim answer; a longer one is left to the HTTP client. */
const INTERIM_BYTES_MAX = 16 * 1024
/** Switching protocols is no interim answer: what follows is no HTTP. */
const INTERIM_START = /^HTTP\/1\.1 1(?!01)\d\d/
const INTERIM_START_BYTES = 'HTTP/1.1 1xx'.length
const HEAD_END = '\r\n\r\n'

export interface Connector {
  /** For the pool. */
  readonly connect: buildConnector.connector
  /** Gives up what is still connecting; for when nobody waits for it any more. */
  cancel(): void
}

/**
 * Opens connections of HTTP/1.1 for a pool.
 *
 * @param timeout - until the connection stands, in milliseconds
 *
 * Spec: §8 (not shown).
 * Choice: no HTTP/2, even where an upstream offers it: an answer has a connection of its own, so that one that
 * is cut or slow never holds up another.
 */
export function createConnector({ timeout }: { timeout: number }): Connector {
  const connect = buildConnector({ timeout, allowH2: false })
  const connecting = new Set<Socket>()
  return {
    connect(target, callback) {
      // The types leave out what the function gives back: the socket that is to connect.
      const opened = connect(target, (...result) => {
        connecting.delete(opened)
        const [, socket] = result
        if (socket) skipInterimAnswers(socket)
        callback(...result)
      }) as unknown as Socket
      connecting.add(opened)
    },
    cancel() {
      for (const socket of connecting) socket.destroy(new Error('nobody waits for the connection'))
    },
  }
}

/**
 * Takes interim answers out of what is read between a request and its answer. The bytes of an answer are
 * never looked at: after its first one nothing is skipped until the next request was written.
 */
function skipInterimAnswers(socket: Socket): void {
  const write = socket.write
  const read = socket.read
  let awaitsAnswer = false
  let held: Buffer | null = null

  socket.write = ((...given: Parameters<typeof write>) => {
    awaitsAnswer = true
    return write.apply(socket, given)
  }) as typeof write

  socket.read = (size) => {
    let piece = read.call(socket, size) as Buffer | null
    while (awaitsAnswer && piece !== null) {
      const bytes: Buffer = held === null ? piece : Buffer.concat([held, piece])
      const rest = behindInterim(bytes)
      held = rest === null ? bytes : null
      if (rest === bytes) {
        awaitsAnswer = false
        return bytes
      }
      piece = rest !== null && rest.length > 0 ? rest : (read.call(socket) as Buffer | null)
    }
    return piece
  }
}

/**
 * What follows the interim answer that the bytes begin with; the bytes themselves when they begin with none;
 * null when that cannot be told yet.
 */
function behindInterim(bytes: Buffer): Buffer | null {
  const start = bytes.toString('latin1', 0, INTERIM_START_BYTES)
  if (start.length < INTERIM_START_BYTES && 'HTTP/1.1 1'.startsWith(start.slice(0, 10))) return null
  if (!INTERIM_START.test(start)) return bytes
  const end = bytes.indexOf(HEAD_END)
  if (end !== -1) return bytes.subarray(end + HEAD_END.length)
  return bytes.length > INTERIM_BYTES_MAX ? bytes : null
}
