/** Notifies listeners that training jobs have changed. */

export interface JobNotifier {
  /** Calls all listeners. Must be called after the commit. */
  notify(): void
  /** @returns a function that removes the listener */
  listen(listener: () => void): () => void
}

export function createJobNotifier(): JobNotifier {
  const listeners = new Set<() => void>()
  return {
    notify() {
      for (const listener of listeners) listener()
    },
    listen(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
