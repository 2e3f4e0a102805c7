/** Bodies of HTTP/1.1 answers, piece by piece: which of the bytes that come are the body's, and where it ends. */
import { invalidAnswer, isHeaderLine } from './response-head.ts'

/** Limit: bytes of the line before a chunk, and of all trailers. */
export const LINE_BYTES_MAX = 4 * 1024

export interface BodyReader {
  /**
   * Takes bytes from an index on, at least one where there is one.
   *
   * @returns the index behind what was taken
   * @throws ApiError upstream_invalid_response; the reader is then spent
   */
  take(bytes: Buffer, from: number): number
  isEnded(): boolean
  /** No more bytes come. Whether the body is whole. */
  finish(): boolean
}

/** Told each piece of a body, never empty; it may be kept. */
export type OnPiece = (piece: Uint8Array) => void

const LF = 10
const CHUNK_SIZE = /^([\da-fA-F]{1,13})[ \t]*(?:;[^\r\n\0]*)?$/

/** A body of so many bytes. */
export function createCountedBody(length: number, onPiece: OnPiece): BodyReader {
  let left = length
  return {
    take(bytes, from) {
      const next = Math.min(bytes.length, from + left)
      left -= next - from
      onPiece(bytes.subarray(from, next))
      return next
    },
    isEnded: () => left === 0,
    finish: () => left === 0,
  }
}

/** A body that ends with its connection. */
export function createEndlessBody(onPiece: OnPiece): BodyReader {
  let isEnded = false
  return {
    take(bytes, from) {
      onPiece(bytes.subarray(from))
      return bytes.length
    },
    isEnded: () => isEnded,
    finish() {
      isEnded = true
      return true
    },
  }
}

/** A body in chunks. Extensions of chunks and trailers are checked for their form and dropped. */
export function createChunkedBody(onPiece: OnPiece): BodyReader {
  const lines = createLineReader()
  let state: 'size' | 'data' | 'data_end' | 'trailers' | 'ended' = 'size'
  let left = 0
  let trailerBytes = 0

  function takeLine(line: string): void {
    if (state === 'size') {
      const [, digits] = CHUNK_SIZE.exec(line) ?? []
      if (digits === undefined) throw invalidAnswer('a chunk without a size')
      left = Number.parseInt(digits, 16)
      state = left === 0 ? 'trailers' : 'data'
    } else if (state === 'data_end') {
      if (line !== '') throw invalidAnswer('a chunk of another length')
      state = 'size'
    } else {
      trailerBytes += line.length
      if (trailerBytes > LINE_BYTES_MAX) throw invalidAnswer('too many trailers')
      if (line === '') state = 'ended'
      else if (!isHeaderLine(line)) throw invalidAnswer('a broken trailer')
    }
  }

  return {
    take(bytes, from) {
      if (state !== 'data') {
        const next = lines.take(bytes, from)
        const line = lines.line()
        if (line !== null) takeLine(line)
        return next
      }
      const next = Math.min(bytes.length, from + left)
      left -= next - from
      if (left === 0) state = 'data_end'
      onPiece(bytes.subarray(from, next))
      return next
    },
    isEnded: () => state === 'ended',
    finish: () => state === 'ended',
  }
}

/** Puts lines together that come in pieces. */
function createLineReader() {
  /** The line so far, its end included. */
  let text = ''
  let isWhole = false
  return {
    /** Takes bytes up to the end of the line; returns the index behind them. */
    take(bytes: Buffer, from: number): number {
      const end = bytes.indexOf(LF, from)
      const next = end === -1 ? bytes.length : end + 1
      const piece = bytes.toString('latin1', from, next)
      text = isWhole ? piece : text + piece
      isWhole = end !== -1
      if (text.length > LINE_BYTES_MAX) throw invalidAnswer('a line that is too long')
      if (isWhole && !text.endsWith('\r\n')) throw invalidAnswer('a line without its end')
      return next
    },
    /** The line without its end; null while it is not whole. */
    line: () => (isWhole ? text.slice(0, -2) : null),
  }
}
