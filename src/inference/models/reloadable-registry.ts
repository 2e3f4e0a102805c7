/**
 * A registry that can be reloaded. Running completions keep the backend they began with; an unusable
 * file changes nothing.
 */
import type { InferenceBackend } from '../backend.ts'
import type { ModelRegistry } from './registry.ts'

/** After this time nothing can run on a replaced backend any more: an answer takes an hour at most. */
const RETIRED_MS = 2 * 3_600_000

export interface ReloadableRegistry extends ModelRegistry {
  /** Reads the models again. @throws what opening throws; the models then stay unchanged */
  reload(): void
}

/**
 * @param open - reads the models; called immediately and on each reload
 * @param shared - the backend shared by all readings; closed only at the end
 */
export function createReloadableRegistry(
  open: () => ModelRegistry,
  shared: InferenceBackend,
): ReloadableRegistry {
  let current = open()
  const retired = new Map<InferenceBackend, NodeJS.Timeout>()

  function retire(backend: InferenceBackend): void {
    const close = () => {
      retired.delete(backend)
      void backend.close()
    }
    retired.set(backend, setTimeout(close, RETIRED_MS).unref())
  }

  return {
    getModel: (name) => current.getModel(name),
    findModel: (name) => current.findModel(name),
    getEntry: (name) => current.getEntry(name),
    listEntries: () => current.listEntries(),
    backends: () => current.backends(),
    reload() {
      const old = current
      current = open()
      for (const backend of old.backends()) if (backend !== shared) retire(backend)
    },
    async close() {
      const backends = [...retired.keys(), ...current.backends(), shared]
      for (const timer of retired.values()) clearTimeout(timer)
      retired.clear()
      await Promise.all([...new Set(backends)].map((backend) => backend.close()))
    },
  }
}
