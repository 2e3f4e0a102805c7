/** Looks at the deltas of an answer on their way. It never changes, holds back or adds one. */
import { ApiError } from '../errors.ts'
import type { Delta } from './backend.ts'

export interface AnswerWatcher {
  note(delta: Delta): void
  /**
   * The answer is over; called once.
   *
   * @param error - null after a whole answer, else what broke it; client_closed_request when its reader
   * left
   */
  end(error: unknown): void
}

/**
 * The same deltas, each shown to the watcher first.
 *
 * @param isStream - false when one relayed delta is a whole answer, after which readers leave
 */
export async function* watchAnswer(
  deltas: AsyncIterable<Delta>,
  { isStream }: { readonly isStream: boolean },
  watcher: AnswerWatcher,
): AsyncGenerator<Delta> {
  let outcome: unknown
  let isOver = false
  try {
    for await (const delta of deltas) {
      watcher.note(delta)
      if (delta.type === 'relayed' && !isStream) isOver = true
      yield delta
    }
    isOver = true
  } catch (error) {
    isOver = true
    outcome = error
    throw error
  } finally {
    watcher.end(isOver ? (outcome ?? null) : new ApiError('client_closed_request'))
  }
}
