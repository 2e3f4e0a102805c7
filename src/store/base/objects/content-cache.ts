/** Contents of objects as parsed JSON, each read once. */

/** Limit: characters of parsed contents and of their names; the cache is cleared when it is full. */
const CACHED_CHARACTERS_MAX = 32 * 1024 * 1024

/** @param onClear - called when the cache is cleared */
export function createContentCache(onClear: () => void = () => undefined) {
  const contents = new Map<string, unknown>()
  let characters = 0
  return {
    has: (key: string) => contents.has(key),
    get: (key: string) => contents.get(key),
    /** Parses and keeps a content; returns it, or undefined for none. */
    add(key: string, json: string | null): unknown {
      const size = key.length + (json?.length ?? 0)
      characters += size
      if (characters > CACHED_CHARACTERS_MAX) {
        contents.clear()
        onClear()
        characters = size
      }
      const value = json === null ? undefined : JSON.parse(json)
      contents.set(key, value)
      return value
    },
  }
}
