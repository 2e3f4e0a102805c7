/** Leaf paths of payloads, as in payload schemas, and the values at them. Pure. */

/** Keys of objects, and null for each element of an array. */
export type PayloadPath = readonly (string | null)[]

const PLAIN = /[^.[\]]+/uy
const QUOTED = /\[("(?:[^"\\]|\\.)*")\]/uy
const ELEMENTS = '[*]'

/**
 * The steps of a path: keys joined by dots, any key as JSON in brackets, `[*]` for the elements of an array.
 *
 * Spec: §2.4 (form of a path not shown). Choice: the form in which payload schemas tell paths, and plain keys with
 * any characters but dots and brackets.
 *
 * @returns null for text of another form
 */
export function parsePayloadPath(text: string): PayloadPath | null {
  const steps: (string | null)[] = []
  let at = 0

  function match(pattern: RegExp, from: number): string | null {
    pattern.lastIndex = from
    const found = pattern.exec(text)
    if (found === null) return null
    at = pattern.lastIndex
    return found[1] ?? found[0]
  }

  while (at < text.length) {
    if (text.startsWith(ELEMENTS, at)) {
      at += ELEMENTS.length
      steps.push(null)
      continue
    }
    const quoted = match(QUOTED, at)
    const isKey = at === 0 || text[at] === '.'
    const key = quoted === null ? null : parseKey(quoted)
    const plain = quoted === null && isKey ? match(PLAIN, at === 0 ? 0 : at + 1) : null
    const step = key ?? plain
    if (step === null) return null
    steps.push(step)
  }
  return steps.length === 0 ? null : steps
}

function parseKey(json: string): string | null {
  try {
    return JSON.parse(json)
  } catch {
    return null
  }
}

/** The values at a path, in their order: one, or one of each element on the way; none where nothing lies. */
export function* valuesAtPath(value: unknown, path: PayloadPath, from = 0): Generator<unknown> {
  if (from === path.length) {
    yield value
    return
  }
  const step = path[from] as string | null
  if (step === null) {
    if (!Array.isArray(value)) return
    for (const item of value) yield* valuesAtPath(item, path, from + 1)
  } else if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    if (Object.hasOwn(value, step)) {
      yield* valuesAtPath((value as Record<string, unknown>)[step], path, from + 1)
    }
  }
}
