/** Collects the leaf paths of JSON values and the types found there, over many values. Pure. */
import type { FeedbackPayloadPath, ValueType } from '../../schemas/feedback/feedback.ts'

/** Limit: distinct paths of one response, about 1 MiB of JSON; keys that are ids would have no end. */
const LEAF_PATHS_MAX = 10_000
/** Limit: characters of one path; a key alone may be as long as a payload. */
const LEAF_PATH_LENGTH_MAX = 2048

const PLAIN_KEY = /^[A-Za-z0-9_]+$/
const NUMBER = 1
const BOOLEAN = 2
const OTHER = 4

interface LeafPathLimits {
  readonly pathsMax: number
  readonly pathLengthMax: number
}

interface LeafPaths {
  /** Adds the leaves of a value. The order of values and of keys makes no difference below the limits. */
  add(value: unknown): void
  /** Whether every leaf that was added is among the paths; false when a limit left some out. */
  isComplete(): boolean
  /** The distinct paths in code-unit order; the caller may mutate the list. */
  list(): FeedbackPayloadPath[]
}

/**
 * Collects leaf paths. A leaf is anything but a non-empty object or array; empty ones have no leaf.
 *
 * Past `pathsMax` no new path is taken up, the types of those already known stay exact.
 *
 * Spec: §2.4, §4.2 (form of a path not shown).
 * Choice: keys are joined by dots; a key with other characters than A-Z a-z 0-9 _, and the empty key, is
 * quoted as JSON in brackets; an element of an array is `[*]`, so `tags[*]` and `items[*].score`.
 */
export function createLeafPaths(
  limits: LeafPathLimits = { pathsMax: LEAF_PATHS_MAX, pathLengthMax: LEAF_PATH_LENGTH_MAX },
): LeafPaths {
  const kinds = new Map<string, number>()
  let isComplete = true

  function addLeaf(path: string, value: unknown): void {
    const known = kinds.get(path)
    if (known === undefined && kinds.size >= limits.pathsMax) isComplete = false
    else kinds.set(path, (known ?? 0) | kindOf(value))
  }

  function walk(path: string, value: unknown): void {
    if (path.length > limits.pathLengthMax) {
      isComplete = false
    } else if (Array.isArray(value)) {
      for (const item of value) walk(`${path}[*]`, item)
    } else if (isBranch(value)) {
      for (const [key, item] of Object.entries(value)) walk(appendKey(path, key), item)
    } else {
      addLeaf(path, value)
    }
  }

  return {
    add: (value) => walk('', value),
    isComplete: () => isComplete,
    list: () =>
      [...kinds.keys()]
        .sort()
        .map((json_path) => ({ json_path, value_type: toValueType(kinds.get(json_path) ?? 0) })),
  }
}

function appendKey(path: string, key: string): string {
  if (!PLAIN_KEY.test(key)) return `${path}[${JSON.stringify(key)}]`
  return path === '' ? key : `${path}.${key}`
}

/** Whether a value has values inside. A long number that was kept as text is an object to JavaScript, but a leaf here. */
function isBranch(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !JSON.isRawJSON(value)
}

/** Returns the kind of a value; null has none. */
function kindOf(value: unknown): number {
  if (value === null) return 0
  if (typeof value === 'boolean') return BOOLEAN
  return typeof value === 'number' || JSON.isRawJSON(value) ? NUMBER : OTHER
}

/**
 * Spec: §2.4 value_type (values not enumerated). Choice: a path with mixed types, or with nothing but
 * nulls, is categorical: no arithmetic is safe on it.
 */
function toValueType(kinds: number): ValueType {
  if (kinds === NUMBER) return 'numeric'
  return kinds === BOOLEAN ? 'boolean' : 'categorical'
}
