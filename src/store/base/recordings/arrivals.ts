/** Recorded calls that are announced before they are stored: reads of them wait until they are. */
import { setTimeout as sleep } from 'node:timers/promises'

/** Limit: announced calls; reads do not wait for more. */
const CALLS_MAX = 10_000
/** Limit: how long a read waits. */
const WAIT_MS_MAX = 2_000

export interface Arrivals {
  /** @returns a function to call when the call is stored, or will not be */
  expect(projectId: string, id: string): () => void
  /** Resolves when none of these ids is pending any more, or after two seconds. */
  wait(projectId: string, ids: readonly string[]): Promise<void>
}

export function createArrivals(waitMs = WAIT_MS_MAX): Arrivals {
  const expected = new Map<string, PromiseWithResolvers<void>>()
  // A project id has exactly one slash, so the text is unambiguous.
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
