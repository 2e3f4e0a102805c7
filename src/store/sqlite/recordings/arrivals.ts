/** Recorded calls that are told of before they are stored: who reads one of them waits for it. */
import { setTimeout as sleep } from 'node:timers/promises'

/** Limit: calls that are known to be on their way; of more, reads do not wait. */
const CALLS_MAX = 10_000
/** Limit: how long a read waits. */
const WAIT_MS_MAX = 2_000

export interface Arrivals {
  /** @returns to be called when the call is stored, or will not be */
  expect(projectId: string, id: string): () => void
  /** Resolves when none of these ids is on its way any more, or after two seconds. */
  wait(projectId: string, ids: readonly string[]): Promise<void>
}

export function createArrivals(waitMs = WAIT_MS_MAX): Arrivals {
  const expected = new Map<string, PromiseWithResolvers<void>>()
  // A project id has exactly one slash, so that the pair can be told from the text.
  const keyOf = (projectId: string, id: string) => `${projectId}/${id}`

  return {
    expect(projectId, id) {
      const key = keyOf(projectId, id)
      if (expected.size >= CALLS_MAX || expected.has(key)) return () => undefined
      const arrival = Promise.withResolvers<void>()
      expected.set(key, arrival)
      return () => {
        expected.delete(key)
        arrival.resolve()
      }
    },
    async wait(projectId, ids) {
      if (expected.size === 0) return
      const found = ids.flatMap((id) => expected.get(keyOf(projectId, id))?.promise ?? [])
      if (found.length === 0) return
      const timeout = new AbortController()
      const isLate = sleep(waitMs, undefined, { signal: timeout.signal }).catch(() => undefined)
      await Promise.race([Promise.all(found), isLate])
      timeout.abort()
    },
  }
}
