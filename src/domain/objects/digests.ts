/**
 * Digests of contents, equal to those that clients compute. Pure.
 *
 * Spec: §2.1 (a ref ends in a digest; how it is computed is not shown). Choice: the public clients' way.
 */
import { createHash, type Hash } from 'node:crypto'
import { ApiError } from '../../errors.ts'
import { toPythonJson } from '../json/python-json.ts'

/** An incremental digest; 43 characters of A-Z, a-z and 0-9. */
interface BytesDigest {
  update(bytes: Uint8Array): void
  /** Ends the digest and returns it. */
  digest(): string
}

/** The digest of bytes, as of a file: base64url of SHA-256 with `X` and `Y` for `-` and `_`. */
export function createBytesDigest(): BytesDigest {
  const hash = createHash('sha256')
  return { update: (bytes) => void hash.update(bytes), digest: () => render(hash) }
}

/** The digest of a JSON value, whatever its spaces and the order of its keys. */
export function digestOfJson(text: string): string {
  return render(createHash('sha256').update(toPythonJson(text)))
}

/** The digest of a table: SHA-256 in hex over the digests of its rows, in order. */
export function digestOfRows(rowDigests: Iterable<string>): string {
  const hash = createHash('sha256')
  for (const digest of rowDigests) hash.update(digest)
  return hash.digest('hex')
}

/**
 * Refuses a content that is not the one its client computed.
 *
 * @param expected - from the request; null and absent expect nothing
 * @param param - field that holds it
 * @throws ApiError digest_mismatch
 */
export function requireDigest(
  expected: string | null | undefined,
  actual: string,
  param: string,
): void {
  if (expected === null || expected === undefined || expected === actual) return
  throw new ApiError('digest_mismatch', { param })
}

function render(hash: Hash): string {
  return hash.digest('base64url').replaceAll('-', 'X').replaceAll('_', 'Y')
}
