/** Similarity of two JSON values, from 0 to 1. Pure; the time grows with the product of the lengths of texts. */
import { isObject } from '../json/is-object.ts'

/**
 * Returns 1 for equal values. Of texts it is the share of characters that need no edit (Levenshtein), of numbers 1 less their
 * distance over the sum of their sizes, of lists and objects the mean over positions and keys, of other kinds 0.
 */
export function similarityOf(one: unknown, other: unknown): number {
  if (typeof one === 'string' && typeof other === 'string') return ofTexts(one, other)
  if (typeof one === 'number' && typeof other === 'number') return ofNumbers(one, other)
  if (Array.isArray(one) && Array.isArray(other)) {
    const positions = Array.from({ length: Math.max(one.length, other.length) }, (_, at) => at)
    return meanOver(
      positions,
      (at) => at in one && at in other,
      (at) => similarityOf(one[at], other[at]),
    )
  }
  if (isObject(one) && isObject(other)) {
    const keys = [...new Set([...Object.keys(one), ...Object.keys(other)])]
    const isInBoth = (key: string) => Object.hasOwn(one, key) && Object.hasOwn(other, key)
    return meanOver(keys, isInBoth, (key) => similarityOf(one[key], other[key]))
  }
  return one === other ? 1 : 0
}

function meanOver<Key>(
  keys: readonly Key[],
  isInBoth: (key: Key) => boolean,
  compare: (key: Key) => number,
): number {
  if (keys.length === 0) return 1
  return keys.reduce((sum, key) => sum + (isInBoth(key) ? compare(key) : 0), 0) / keys.length
}

/** Scaled by the larger, so that no difference nor sum is too large for a number; 1e999 of a JSON text is infinite. */
function ofNumbers(one: number, other: number): number {
  if (one === other) return 1
  const size = Math.max(Math.abs(one), Math.abs(other))
  if (size === Number.POSITIVE_INFINITY) return 0
  const [left, right] = [one / size, other / size]
  return 1 - Math.abs(left - right) / (Math.abs(left) + Math.abs(right))
}

function ofTexts(one: string, other: string): number {
  const [left, right] = [[...one], [...other]]
  const longest = Math.max(left.length, right.length)
  return longest === 0 ? 1 : 1 - editDistance(left, right) / longest
}

/** Characters that must be inserted, removed or replaced. */
function editDistance(left: readonly string[], right: readonly string[]): number {
  let distances = Uint32Array.from({ length: right.length + 1 }, (_, at) => at)
  for (const [row, character] of left.entries()) {
    const next = new Uint32Array(right.length + 1)
    next[0] = row + 1
    for (let at = 1; at <= right.length; at++) {
      const replaced = (distances[at - 1] ?? 0) + Number(right[at - 1] !== character)
      next[at] = Math.min(replaced, (distances[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1)
    }
    distances = next
  }
  return distances[right.length] ?? 0
}
