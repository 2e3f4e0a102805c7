/** Opens connections to one address. */
import type { Socket } from 'node:net'
import { buildConnector } from 'undici'

/**
 * Begins a connection; `done` is called once it stands, or with the error. Destroying the socket gives it up.
 *
 * @param onBytes - told what is read, which may be kept; the socket has no `data` events
 */
export type Connect = (
  onBytes: (bytes: Buffer) => void,
  done: (error: Error | null) => void,
) => Socket

/** Bytes of one read at most. */
const READ_BYTES_MAX = 64 * 1024

/**
 * Prepares connections of HTTP/1.1, over TLS for `https:`.
 *
 * @param timeoutMs - until a connection stands
 *
 * Spec: §8 (not shown).
 * Choice: no HTTP/2, even where an upstream offers it: an answer has a connection of its own, so that one that
 * is cut or slow never holds up another.
 */
export function createConnect({ protocol, host, hostname, port }: URL, timeoutMs: number): Connect {
  // An address of IPv6 stands in brackets in a URL only.
  const target = { protocol, host, port, hostname: hostname.replace(/^\[|\]$/g, '') }
  // One for all connections: memory of this size for each read costs more than to copy the few bytes that come.
  const buffer = Buffer.allocUnsafeSlow(READ_BYTES_MAX)
  let session: Buffer | undefined
  return (onBytes, done) => {
    const callback = (byteCount: number) => {
      const bytes = Buffer.allocUnsafe(byteCount)
      buffer.copy(bytes, 0, 0, byteCount)
      onBytes(bytes)
      return true
    }
    const options = { timeout: timeoutMs, allowH2: false, onread: { buffer, callback } }
    const connect = buildConnector({ ...options, ...(session && { session }) })
    // The types leave out what the function gives back: the socket that is to connect.
    const socket = connect(target, (...[error]) => done(error)) as unknown as Socket
    return socket.on('session', (latest: Buffer) => {
      session = latest
    })
  }
}
