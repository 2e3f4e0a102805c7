/**
 * Heads of HTTP/1.1 answers: text to status and headers, and what they say of the body and the connection.
 * Strict: what two readers could read in two ways is refused.
 */
import { ApiError } from '../../errors.ts'

export interface AnswerHead {
  readonly status: number
  /** By their names in lower case; the values of equal names joined by commas. */
  readonly headers: ReadonlyMap<string, string>
  /** Whether its version keeps connections unless told otherwise. */
  readonly keepsAlive: boolean
}

const STATUS_LINE = /^HTTP\/1\.([01]) (\d{3})(?: [^\r\n\0]*)?$/
const HEADER_LINE = /^([!#$%&'*+\-.^_`|~\dA-Za-z]+):[ \t]*([^\r\n\0]*)$/
const LENGTH = /^\d{1,15}$/
/** Statuses whose answers have no body. */
const BODILESS: readonly number[] = [204, 304]

/**
 * The head of an answer.
 *
 * @param text - its lines without the empty one at the end
 * @throws ApiError upstream_invalid_response
 */
export function parseHead(text: string): AnswerHead {
  const lines = text.split('\r\n')
  const [, minor, status] = STATUS_LINE.exec(lines[0] ?? '') ?? []
  if (status === undefined) throw invalidAnswer('no status line')
  const headers = new Map<string, string>()
  for (let at = 1; at < lines.length; at++) {
    const [, name, value] = HEADER_LINE.exec(lines[at] ?? '') ?? []
    if (name === undefined || value === undefined) throw invalidAnswer('a broken header')
    const key = name.toLowerCase()
    const known = headers.get(key)
    headers.set(key, known === undefined ? value.trimEnd() : `${known}, ${value.trimEnd()}`)
  }
  return { status: Number(status), headers, keepsAlive: minor === '1' }
}

/** Whether a line is that of a header or trailer. */
export function isHeaderLine(line: string): boolean {
  return HEADER_LINE.test(line)
}

/**
 * How the end of an answer's body is told: by its bytes (0: there is none), by chunks, or by the end of the
 * connection.
 *
 * @throws ApiError upstream_invalid_response for lengths that cannot be read, or for two kinds at once
 */
export function bodyLengthOf({ status, headers }: AnswerHead): number | 'chunked' | 'endless' {
  const coding = headers.get('transfer-encoding')
  const length = headers.get('content-length')
  if (coding !== undefined && length !== undefined) throw invalidAnswer('two lengths')
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    throw invalidAnswer('an unknown transfer coding')
  }
  if (length !== undefined && !LENGTH.test(length)) {
    throw invalidAnswer('a length that is no number')
  }
  if (BODILESS.includes(status)) return 0
  if (coding !== undefined) return 'chunked'
  return length === undefined ? 'endless' : Number(length)
}

/** Whether the upstream keeps the connection after the answer. */
export function keepsConnection({ headers, keepsAlive }: AnswerHead): boolean {
  const connection = headers.get('connection')
  if (connection === undefined) return keepsAlive
  if (connection === 'keep-alive') return true
  const tokens = connection.toLowerCase().split(',')
  const has = (name: string) => tokens.some((token) => token.trim() === name)
  return !has('close') && (keepsAlive || has('keep-alive'))
}

/** How long the upstream keeps the connection, in seconds; null when it does not tell. */
export function keepAliveSecondsOf({ headers }: AnswerHead): number | null {
  const [, seconds] = /timeout=(\d{1,6})/i.exec(headers.get('keep-alive') ?? '') ?? []
  return seconds === undefined ? null : Number(seconds)
}

/** @param what - what the answer has that makes it none; for the log */
export function invalidAnswer(what: string): ApiError {
  return new ApiError('upstream_invalid_response', { cause: new Error(`the answer has ${what}`) })
}
