/** Shortens bodies of calls for lists. What is left is JSON of the same shape and of a bounded size. Pure. */
import { parseLossless, renderJson } from '../json/json-text.ts'

/** Limit: bytes of a stored body that a list with previews reads. */
export const PREVIEWED_BYTES_MAX = 1024 * 1024
/** Limit: characters of a body in such a list. */
const PREVIEW_CHARS_MAX = 8 * 1024
/** Characters of a text, elements of a list and members of an object that are left; the next step where that is too long. */
const STEPS = [
  { chars: 400, elements: 64, members: 512 },
  { chars: 200, elements: 16, members: 128 },
  { chars: 160, elements: 4, members: 32 },
  { chars: 40, elements: 2, members: 16 },
] as const
/** Limit: levels of nesting, which bounds the work of the last step. */
const LEVELS_MAX = 32

/** The limits of a step, and the characters that are left of its preview, so that a step that fails ends early. */
interface Step {
  readonly chars: number
  readonly elements: number
  readonly members: number
  left: number
}

/** The rest of the paths that a list shows, from a value on. */
type Paths = readonly (readonly string[])[]

/**
 * Returns a body of at most 8,192 characters: a longer one with shortened texts, with the first members of its objects and the
 * first and last elements of its lists; an empty one if even that is too long.
 *
 * @param body - JSON
 * @param paths - of values whose members are left, as columns of a list name them
 */
export function previewBody(body: string, paths: Paths): string {
  if (body.length <= PREVIEW_CHARS_MAX) return body
  const value = parseLossless(body)
  for (const limits of STEPS) {
    const step = { ...limits, left: PREVIEW_CHARS_MAX }
    const shown = shorten(value, step, paths, 0)
    const text = step.left < 0 ? null : renderJson(shown)
    if (text !== null && text.length <= PREVIEW_CHARS_MAX) return text
  }
  return Array.isArray(value) ? '[]' : '{}'
}

function shorten(value: unknown, step: Step, paths: Paths, level: number): unknown {
  // A value and the comma after it.
  step.left -= 2
  if (step.left < 0) return null
  if (typeof value === 'string') return takeText(value, step)
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return value
  if (level === LEVELS_MAX) return null
  if (Array.isArray(value)) return shortenList(value, step, paths, level)
  const named = firstsOf(paths)
  const entries = Object.entries(value).filter(([name], at) => at < step.members || named.has(name))
  return Object.fromEntries(
    entries.map(([name, member]) => [
      takeText(name, step),
      shorten(member, step, restOf(paths, name), level + 1),
    ]),
  )
}

/** The elements in the middle are left out; null in their places before the last position that a column names. */
function shortenList(list: readonly unknown[], step: Step, paths: Paths, level: number): unknown[] {
  const half = step.elements / 2
  const named = firstsOf(paths)
  const lastNamed = Math.max(-1, ...[...named].map(Number).filter((at) => at < list.length))
  return list.flatMap((element, at) => {
    const isLeft = at < half || at >= list.length - half || named.has(String(at))
    if (isLeft) return [shorten(element, step, restOf(paths, String(at)), level + 1)]
    return at < lastNamed ? [null] : []
  })
}

function firstsOf(paths: Paths): ReadonlySet<string> {
  return new Set(paths.flatMap(([first]) => first ?? []))
}

/** The rest of those paths that begin with a name. */
export function restOf(paths: Paths, name: string): Paths {
  return paths.flatMap(([first, ...rest]) => (first === name && rest.length > 0 ? [rest] : []))
}

/** Without half of a character at its end. */
function takeText(text: string, step: Step): string {
  const { chars } = step
  step.left -= Math.min(text.length, chars)
  if (text.length <= chars) return text
  return `${text.slice(0, chars).replace(/[\ud800-\udbff]$/, '')}…`
}
