/** Paths of RFC 9535 with names, indices and wildcards: one step after the other, without filters and slices. Pure. */

/** A key, an index (from the end when negative), or null for all members and elements. */
type JsonPath = readonly (string | number | null)[]

/** Limits: steps of a path, and values that one path may select. */
const STEPS_MAX = 32
const VALUES_MAX = 1_000

const NAME = /\.([^\s.[\]'"*$]+)/uy
const WILDCARD = /\.\*|\[\*\]/uy
const INDEX = /\[(0|-?[1-9]\d{0,8})\]/uy
const QUOTED = /\[("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\]/uy

/** Returns the steps of a path such as `$.inputs.messages[-1].content`; null for text of another form. */
export function parseJsonPath(text: string): JsonPath | null {
  if (!text.startsWith('$')) return null
  const steps: (string | number | null)[] = []
  let at = 1

  function match(pattern: RegExp): string | null {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (found === null) return null
    at = pattern.lastIndex
    return found[1] ?? ''
  }

  while (at < text.length) {
    if (steps.length === STEPS_MAX) return null
    if (match(WILDCARD) !== null) {
      steps.push(null)
      continue
    }
    const index = match(INDEX)
    const quoted = index === null ? match(QUOTED) : null
    const name = index ?? (quoted === null ? match(NAME) : parseName(quoted))
    if (name === null) return null
    steps.push(index === null ? name : Number(index))
  }
  return steps
}

function parseName(quoted: string): string | null {
  const isSingle = quoted.startsWith("'")
  const body = quoted.slice(1, -1)
  const json = isSingle ? body.replaceAll("\\'", "'").replaceAll('"', '\\"') : body
  try {
    return JSON.parse(`"${json}"`)
  } catch {
    return null
  }
}

/**
 * Returns the value at a path: with a wildcard the list of all values there, at most 1,000; undefined where there is
 * none.
 */
export function valueAtJsonPath(value: unknown, path: JsonPath): unknown {
  let values: unknown[] = [value]
  for (const step of path)
    values = values.flatMap((one) => stepInto(one, step)).slice(0, VALUES_MAX)
  return path.includes(null) ? values : values[0]
}

function stepInto(value: unknown, step: string | number | null): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  if (step === null) return Array.isArray(value) ? value : Object.values(value)
  if (typeof step === 'string') {
    if (Array.isArray(value) || !Object.hasOwn(value, step)) return []
    return [(value as Readonly<Record<string, unknown>>)[step]]
  }
  if (!Array.isArray(value)) return []
  const index = step < 0 ? value.length + step : step
  return index >= 0 && index < value.length ? [value[index]] : []
}
