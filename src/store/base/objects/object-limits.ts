/** The limits of published objects. */
import { ApiError } from '../../../errors.ts'

/** Limit: tags of one version; aliases of one object. */
const MARKS_MAX = 1000
/** Limit: distinct names in one result; names after them in sort order are left out. */
export const NAMES_MAX = 10_000

/** @param count - after the write, which the error undoes. @throws ApiError validation_failed */
export function requireMarkLimit(count: number, param: 'tags' | 'aliases'): void {
  if (count <= MARKS_MAX) return
  const message = `An object has at most ${MARKS_MAX} ${param}.`
  throw new ApiError('validation_failed', { message, param })
}

/** @throws ApiError validation_failed */
export function requireByteLimit(bytes: number, bytesMax: number): void {
  if (bytes <= bytesMax) return
  const message = `The contents have more than ${bytesMax} bytes: ask for fewer with limit, or for metadata_only.`
  throw new ApiError('validation_failed', { message, param: 'limit' })
}
