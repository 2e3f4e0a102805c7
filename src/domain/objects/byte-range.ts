/** The range of bytes that a GET requests of a representation, by RFC 9110 §14. Pure. */
import { ApiError } from '../../errors.ts'

/** Positions from 0; `until` is exclusive. */
export interface ByteRange {
  readonly from: number
  readonly until: number
}

interface RangeHeaders {
  readonly range?: string | undefined
  readonly 'if-range'?: string | string[] | undefined
}

/** One range with a first byte, or with the number of last bytes. */
const ONE_RANGE = /^bytes=[ \t]*(?:(\d+)-(\d*)|-(\d+))[ \t]*$/i

/**
 * Returns the requested range. null, for all bytes: without one, for several or another unit, which a server may ignore, and
 * where If-Range names another content.
 *
 * @param etag - strong, with its quotes
 * @throws ApiError range_not_satisfiable, with the size as the header Content-Range
 */
export function resolveByteRange(
  { range = '', 'if-range': condition }: RangeHeaders,
  { etag, size_bytes }: { readonly etag: string; readonly size_bytes: number },
): ByteRange | null {
  const found = condition === undefined || condition === etag ? ONE_RANGE.exec(range) : null
  if (found === null) return null
  const [, first, last, suffix] = found
  if (suffix !== undefined) {
    if (Number(suffix) === 0) throw notSatisfiable(size_bytes)
    // No header can name a range of no bytes.
    return size_bytes === 0
      ? null
      : { from: Math.max(0, size_bytes - Number(suffix)), until: size_bytes }
  }
  const from = Number(first)
  const end = last ? Number(last) : Number.POSITIVE_INFINITY
  if (end < from) return null
  if (from >= size_bytes) throw notSatisfiable(size_bytes)
  return { from, until: Math.min(end + 1, size_bytes) }
}

/** Returns the header Content-Range of a response with a range. */
export function renderContentRange({ from, until }: ByteRange, size_bytes: number): string {
  return `bytes ${from}-${until - 1}/${size_bytes}`
}

function notSatisfiable(size_bytes: number): ApiError {
  return new ApiError('range_not_satisfiable', {
    message: `The range begins behind the ${size_bytes} bytes of the file.`,
    headers: { 'content-range': `bytes */${size_bytes}` },
  })
}
