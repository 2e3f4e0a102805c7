/** Notifies listeners that training jobs have changed. */

export interface JobBell {
  /** Calls all listeners. Must be called after the commit. */
  ring(): void
  /** @returns a function that removes the listener */
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
