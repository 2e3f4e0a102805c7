/**
 * Upstreams may send unsolicited interim answers (`100 Continue`, `103 Early Hints`). They are removed before the
 * HTTP client sees them, since it treats `100 Continue` as a broken answer.
 */
import type { Socket } from 'node:net'

/** Limit: bytes of one interim answer; a longer one is passed to the HTTP client, which rejects it. */
const INTERIM_BYTES_MAX = 16 * 1024
const START = 'HTTP/1.1 1'
const STATUS_END = 'HTTP/1.1 1xx'.length
/** `101 Switching Protocols` is not an interim answer: HTTP ends with it. */
const INTERIM = /^HTTP\/1\.1 1(?!01)\d\d/
const END = '\r\n\r\n'

/**
 * Removes interim answers from the bytes read between a request and its answer. The answer itself is never
 * inspected: after its first byte nothing is skipped until the next request.
 *
 * @param onBytes - called when anything arrives in answer to a request
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
    /** Notes that a request was sent, so an answer comes next. */
    expect() {
      isExpected = true
      held = null
    },
  }
}

/** Returns the bytes after an interim answer, all bytes if there is none, or null if more bytes are needed to tell. */
function findRest(bytes: Buffer): Buffer | null {
  const start = bytes.toString('latin1', 0, STATUS_END)
  if (start.length < STATUS_END && START.startsWith(start.slice(0, START.length))) return null
  if (!INTERIM.test(start)) return bytes
  const end = bytes.indexOf(END)
  if (end !== -1) return bytes.subarray(end + END.length)
  return bytes.length > INTERIM_BYTES_MAX ? bytes : null
}
