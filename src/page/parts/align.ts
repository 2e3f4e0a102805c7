/** Aligns two lists by what they have in common: lines of texts, items of arrays. Pure. */

/** Limit: cells of the alignment table; longer stretches count as replaced entirely. */
const CELLS_MAX = 4_000_000

export interface Step {
  readonly kind: 'same' | 'removed' | 'added'
  /** Index in the old list; -1 for an added item. */
  readonly before: number
  /** Index in the new list; -1 for a removed item. */
  readonly after: number
}

/** Returns the fewest steps from one list to another; removals come before adjacent additions. */
export function align(before: readonly string[], after: readonly string[]): Step[] {
  const shorter = Math.min(before.length, after.length)
  let head = 0
  while (head < shorter && before[head] === after[head]) head++
  let tail = 0
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++
  const steps: Step[] = []
  for (let at = 0; at < head; at++) steps.push({ kind: 'same', before: at, after: at })
  const [beforeEnd, afterEnd] = [before.length - tail, after.length - tail]
  steps.push(...alignMiddle(before.slice(head, beforeEnd), after.slice(head, afterEnd), head))
  for (let at = 0; at < tail; at++)
    steps.push({ kind: 'same', before: beforeEnd + at, after: afterEnd + at })
  return steps
}

/** @param offset - index of the stretch in both lists */
function alignMiddle(before: readonly string[], after: readonly string[], offset: number): Step[] {
  const common = commonLengths(before, after)
  const width = after.length + 1
  const steps: Step[] = []
  let [left, right] = [0, 0]
  const remove = () => steps.push({ kind: 'removed', before: offset + left++, after: -1 })
  const add = () => steps.push({ kind: 'added', before: -1, after: offset + right++ })
  while (left < before.length && right < after.length && common !== null) {
    if (before[left] === after[right]) {
      steps.push({ kind: 'same', before: offset + left++, after: offset + right++ })
      continue
    }
    const ifRemoved = common[(left + 1) * width + right] ?? 0
    const ifAdded = common[left * width + right + 1] ?? 0
    if (ifRemoved >= ifAdded) remove()
    else add()
  }
  while (left < before.length) remove()
  while (right < after.length) add()
  return steps
}

/** The length of the longest common subsequence of every two tails of the lists; null if the table would be too large. */
function commonLengths(before: readonly string[], after: readonly string[]): Uint16Array | null {
  const width = after.length + 1
  const cells = (before.length + 1) * width
  if (cells > CELLS_MAX) return null
  const common = new Uint16Array(cells)
  for (let left = before.length - 1; left >= 0; left--) {
    for (let right = after.length - 1; right >= 0; right--) {
      const below = (left + 1) * width + right
      common[left * width + right] =
        before[left] === after[right]
          ? (common[below + 1] ?? 0) + 1
          : Math.max(common[below] ?? 0, common[left * width + right + 1] ?? 0)
    }
  }
  return common
}
