/** How many completions may run at once in this process. It refuses early and never queues. */
import { ApiError } from '../errors.ts'
import type { Delta } from './backend.ts'

export interface Admission {
  /**
   * The same deltas, holding a place from the first request for one until the end, a failure, or the
   * reader's leaving.
   *
   * @param start - makes the completion; called only when there is a place
   * @throws ApiError server_overloaded with the first delta asked for, when all places are taken
   */
  admit(start: () => AsyncIterable<Delta>): AsyncIterable<Delta>
}

const RETRY_AFTER_S = 1

/** Spec: §8 (quotas not shown). Choice: a full server refuses at once, so that clients go elsewhere. */
export function createAdmission({ placesMax }: { readonly placesMax: number }): Admission {
  let takenCount = 0
  return {
    async *admit(start) {
      if (takenCount >= placesMax) {
        throw new ApiError('server_overloaded', { retryAfterS: RETRY_AFTER_S })
      }
      takenCount += 1
      try {
        yield* start()
      } finally {
        takenCount -= 1
      }
    },
  }
}
