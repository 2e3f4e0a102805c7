/**
 * Decodes server-sent events incrementally: bytes in, the data of whole events out. How the bytes are
 * split into chunks never changes the events. It must not know what the data means.
 */
import { ApiError } from '../../errors.ts'

/** Limit: characters of one event with its comments and unknown fields; 16 Mi. */
const EVENT_CHARS_MAX = 16 * 1024 * 1024

interface SseDecoder {
  /**
   * Takes the next bytes and returns the data of the events that they complete, in order.
   *
   * @throws ApiError upstream_invalid_response when an event exceeds the limit; the decoder is then spent
   */
  push(bytes: Uint8Array): string[]
}

/**
 * Lines end in LF, CR or CRLF; a first byte order mark is skipped; comments and fields other than
 * `data` are dropped; several data lines are joined by LF; an event without data is ignored. Text after
 * the last blank line is not an event, as the standard says.
 */
export function createSseDecoder({ charsMax = EVENT_CHARS_MAX } = {}): SseDecoder {
  const decoder = new TextDecoder()
  /** Chunks of the unfinished line: joined only once, so one-byte chunks do not cost quadratic time. */
  let line: string[] = []
  let data: string[] = []
  let charCount = 0
  let skipsLineFeed = false

  function endLine(tail: string, events: string[]): void {
    const text = line.length === 0 ? tail : line.join('') + tail
    line = []
    if (text !== '') {
      const value = readData(text)
      if (value !== null) data.push(value)
      return
    }
    if (data.length > 0) events.push(data.length === 1 ? (data[0] as string) : data.join('\n'))
    data = []
    charCount = 0
  }

  function count(chars: number): void {
    charCount += chars
    if (charCount <= charsMax) return
    throw new ApiError('upstream_invalid_response', {
      message: 'The upstream sent an event that is too large.',
    })
  }

  return {
    push(bytes) {
      const text = decoder.decode(bytes, { stream: true })
      const events: string[] = []
      let start = 0
      if (skipsLineFeed && text !== '') {
        if (text.startsWith('\n')) start = 1
        skipsLineFeed = false
      }
      let carriageReturn = text.indexOf('\r', start)
      while (true) {
        const lineFeed = text.indexOf('\n', start)
        if (carriageReturn !== -1 && carriageReturn < start) {
          carriageReturn = text.indexOf('\r', start)
        }
        const end = nearest(lineFeed, carriageReturn)
        if (end === -1) break
        count(end - start)
        endLine(text.slice(start, end), events)
        start = end + 1
        if (end !== carriageReturn) continue
        // A CR at the end of a piece may be the first half of a CRLF.
        if (start === text.length) skipsLineFeed = true
        else if (text[start] === '\n') start += 1
      }
      if (start < text.length) {
        count(text.length - start)
        line.push(text.slice(start))
      }
      return events
    },
  }
}

function nearest(left: number, right: number): number {
  if (left === -1) return right
  return right === -1 ? left : Math.min(left, right)
}

/** Returns the value of a `data` line, or null for a comment or another field. */
function readData(line: string): string | null {
  if (line === 'data') return ''
  if (!line.startsWith('data:')) return null
  return line.slice(line[5] === ' ' ? 6 : 5)
}
