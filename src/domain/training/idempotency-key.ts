/** The `Idempotency-Key` header. Pure. */
import { ApiError } from '../../errors.ts'

const KEY = /^[\x21-\x7e]{1,255}$/

/**
 * Parses the header; null when it was not sent.
 *
 * Spec: §4.8 (no such header). Choice: optional, 1..255 visible ASCII characters without spaces.
 *
 * @throws ApiError invalid_header
 */
export function parseIdempotencyKey(header: string | undefined): string | null {
  if (header === undefined) return null
  if (KEY.test(header)) return header
  throw new ApiError('invalid_header', {
    message: 'Idempotency-Key must be 1 to 255 visible ASCII characters.',
    param: 'Idempotency-Key',
  })
}
