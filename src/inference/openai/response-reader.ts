/**
 * Reads one HTTP/1.1 answer piece by piece: bytes in, its head and the pieces of its body out. Where the bytes
 * are cut never changes what comes out.
 */
import {
  type BodyReader,
  createChunkedBody,
  createCountedBody,
  createEndlessBody,
  type OnPiece,
} from './response-body.ts'
import {
  type AnswerHead,
  bodyLengthOf,
  invalidAnswer,
  keepAliveSecondsOf,
  keepsConnection,
  parseHead,
} from './response-head.ts'

/** Limit of a head. */
export const HEAD_BYTES_MAX = 16 * 1024

/** Whom the parts of an answer are told, in their order. */
export interface AnswerReceiver {
  onHead(head: AnswerHead): void
  onPiece: OnPiece
  /** The body is whole. */
  onEnd(): void
}

export interface ResponseReader {
  /**
   * Takes the next bytes, as many as belong to the answer.
   *
   * @returns how many; fewer than all only when the answer has ended
   * @throws ApiError upstream_invalid_response for what is no answer; the reader is then spent
   */
  push(bytes: Buffer): number
  isEnded(): boolean
  /** No more bytes come. Whether the answer is whole; a body that nothing else ends does so here. */
  finish(): boolean
  /**
   * How long the connection stands open for another request, in seconds; null: as long as connections do, 0: it
   * does not.
   */
  reusableS(): number | null
}

const HEAD_END = '\r\n\r\n'
const SWITCHING_PROTOCOLS = 101
const VERSION = 'HTTP/1.'
const CR = 13
const LF = 10

/**
 * Opens the reader of one answer to a GET or POST. Interim answers before it (`100 Continue`, `103 Early
 * Hints`) are skipped, asked for or not.
 */
export function createResponseReader(receiver: AnswerReceiver): ResponseReader {
  /** What came of a head that is not whole yet. */
  let held: Buffer | null = null
  let head: AnswerHead | null = null
  let body: BodyReader | null = null
  let isEnded = false

  function end(): void {
    isEnded = true
    receiver.onEnd()
  }

  function start(next: AnswerHead): void {
    if (next.status === SWITCHING_PROTOCOLS) throw invalidAnswer('a switch of protocols')
    if (next.status < 200) return
    const length = bodyLengthOf(next)
    if (length === 'chunked') body = createChunkedBody(receiver.onPiece)
    else if (length === 'endless') body = createEndlessBody(receiver.onPiece)
    else body = createCountedBody(length, receiver.onPiece)
    head = next
    receiver.onHead(next)
    if (length === 0) end()
  }

  /** Takes bytes up to the end of a head; returns the index behind them. */
  function takeHead(bytes: Buffer, from: number): number {
    const rest = bytes.subarray(from)
    const heldBytes = held?.length ?? 0
    const all: Buffer = held === null ? rest : Buffer.concat([held, rest])
    const stop = all.indexOf(HEAD_END, 0, 'latin1')
    if ((stop === -1 ? all.length : stop) > HEAD_BYTES_MAX) {
      throw invalidAnswer('a head that is too large')
    }
    held = stop === -1 ? all : null
    if (stop === -1) {
      checkBegun(all)
      return bytes.length
    }
    start(parseHead(all.toString('latin1', 0, stop)))
    return from + stop + HEAD_END.length - heldBytes
  }

  return {
    push(bytes) {
      let at = 0
      while (at < bytes.length && !isEnded) {
        if (body === null) {
          at = takeHead(bytes, at)
        } else {
          at = body.take(bytes, at)
          if (body.isEnded()) end()
        }
      }
      return at
    },
    isEnded: () => isEnded,
    finish() {
      if (!isEnded && body?.finish()) end()
      return isEnded
    },
    reusableS() {
      if (head === null || !isEnded || bodyLengthOf(head) === 'endless') return 0
      return keepsConnection(head) ? keepAliveSecondsOf(head) : 0
    },
  }
}

/** Tells at once what becomes no head, since its end may never come. @throws ApiError upstream_invalid_response */
function checkBegun(bytes: Buffer): void {
  if (!VERSION.startsWith(bytes.toString('latin1', 0, VERSION.length))) {
    throw invalidAnswer('no status line')
  }
  const lineEnd = bytes.indexOf(LF)
  if (lineEnd !== -1 && bytes[lineEnd - 1] !== CR) throw invalidAnswer('a line without its end')
}
