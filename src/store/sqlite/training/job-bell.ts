/** Wakes those that wait for jobs when some have moved. */

export interface JobBell {
  /** Tells all listeners. Called after the commit. */
  ring(): void
  /** @returns the end of the listening */
  listen(listener: () => void): () => void
}

export function createJobBell(): JobBell {
  const listeners = new Set<() => void>()
  return {
    ring() {
      for (const listener of listeners) listener()
    },
    listen(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
