/** Suggests routes for an unknown address: those whose paths share the most pairs of characters with it. */

/** Limits: suggested routes, and compared characters of an address. */
const NAMED_MAX = 3
const PATH_CHARS_MAX = 256
/** A route is near from this fraction of shared pairs on, 0..1. */
const NEAR_MIN = 0.5

interface NearestRoutes {
  /** @param url - the route pattern, with `:name` or `:name(^.+)` for parameters, and `::` for a colon */
  add(method: string, url: string): void
  /** Returns the nearest routes, such as `POST /call/start`, nearest first; none when nothing is near. */
  find(path: string): string[]
}

interface Route {
  readonly name: string
  readonly pairs: ReadonlySet<string>
}

export function createNearestRoutes(): NearestRoutes {
  const routes: Route[] = []
  return {
    add(method, url) {
      const shown = url.replace(/:(\w+)(?:\(\^\.\+\))?/g, '{$1}').replace('}::', '}:')
      routes.push({ name: `${method} ${shown}`, pairs: pairsOf(url) })
    },
    find(path) {
      const requested = pairsOf(path.slice(0, PATH_CHARS_MAX))
      return routes
        .map(({ name, pairs }) => ({ name, likeness: likenessOf(requested, pairs) }))
        .filter(({ likeness }) => likeness >= NEAR_MIN)
        .sort((left, right) => right.likeness - left.likeness)
        .slice(0, NAMED_MAX)
        .map(({ name }) => name)
    },
  }
}

function pairsOf(path: string): Set<string> {
  const text = path.toLowerCase()
  return new Set(Array.from(text.slice(1), (character, at) => text.charAt(at) + character))
}

function likenessOf(left: ReadonlySet<string>, right: ReadonlySet<string>): number {
  let shared = 0
  for (const pair of left) if (right.has(pair)) shared += 1
  return (2 * shared) / (left.size + right.size || 1)
}
