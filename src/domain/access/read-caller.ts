/** The caller that waits for a read. */
import { toClientClosedError } from '../../errors.ts'

/** The caller of a read: heavy reads are scheduled fairly between keys, and between the projects of a key. */
export interface ReadCaller {
  /** Id of the API key. */
  readonly keyId: string
  readonly project_id: string
  /** Aborted when the caller no longer waits; its reason is thrown when it is an ApiError. */
  readonly signal: AbortSignal
}

/** @throws ApiError client_closed_request, or the signal's reason, when the caller no longer waits */
export function requireWaiting(signal: AbortSignal): void {
  if (signal.aborted) throw toClientClosedError(signal)
}
