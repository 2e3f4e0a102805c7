/**
 * Upstreams may send interim answers (`100 Continue`, `103 Early Hints`) although nobody asked for them. They are
 * skipped before the HTTP client reads, which takes `100 Continue` for a broken answer.
 */
import type { Socket } from 'node:net'

/** Limit: bytes of one interim answer; a longer one is left to the HTTP client, which refuses it. */
const INTERIM_BYTES_MAX = 16 * 1024
const START = 'HTTP/1.1 1'
const STATUS_END = 'HTTP/1.1 1xx'.length
/** Switching protocols is no interim answer: what follows is no HTTP. */
const INTERIM = /^HTTP\/1\.1 1(?!01)\d\d/
const END = '\r\n\r\n'

/**
 * Takes interim answers out of what is read of a socket between a request and its answer. The bytes of an answer are
 * never looked at: after its first one nothing is skipped until the next request.
 *
 * @param onBytes - told when anything comes in answer to a request
 */
export function skipInterimAnswers(socket: Socket, onBytes: () => void): { expect(): void } {
  const read = socket.read
  let isExpected = false
  let held: Buffer | null = null

  socket.read = (size) => {
    let piece = read.call(socket, size) as Buffer | null
    if (isExpected && piece !== null) onBytes()
    while (isExpected && piece !== null) {
      const bytes: Buffer = held === null ? piece : Buffer.concat([held, piece])
      const rest = findRest(bytes)
      held = rest === null ? bytes : null
      if (rest === bytes) {
        isExpected = false
        return bytes
      }
      piece = rest !== null && rest.length > 0 ? rest : (read.call(socket) as Buffer | null)
    }
    return piece
  }
  return {
    /** A request is sent: an answer comes next. */
    expect() {
      isExpected = true
      held = null
    },
  }
}

/** What follows an interim answer; the bytes themselves when they begin otherwise; null when that cannot be told yet. */
function findRest(bytes: Buffer): Buffer | null {
  const start = bytes.toString('latin1', 0, STATUS_END)
  if (start.length < STATUS_END && START.startsWith(start.slice(0, START.length))) return null
  if (!INTERIM.test(start)) return bytes
  const end = bytes.indexOf(END)
  if (end !== -1) return bytes.subarray(end + END.length)
  return bytes.length > INTERIM_BYTES_MAX ? bytes : null
}
