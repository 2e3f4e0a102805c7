/** Sorts the rows of a table by fields inside them. Pure. */
import { valueAt } from '../query/query-values.ts'

/** Sort key of a value, by rank: numbers, texts, booleans, other values, missing ones. */
type SortKey = readonly [rank: number, value: number | string]

const NOTHING: SortKey = [4, 0]
const COMPARED_PER_CHECKPOINT = 1000

/**
 * Collects rows in their order and returns their positions, sorted; equals keep their order.
 *
 * @param sort - fields as dotted paths, read as queries read them
 * @param checkpoint - called now and then while places are sorted
 */
export function createTableOrder(
  sort: readonly { readonly field: string; readonly direction: 'asc' | 'desc' }[],
  checkpoint: () => unknown,
) {
  const paths = sort.map(({ field }) => field.split('.'))
  const signs = sort.map(({ direction }) => (direction === 'asc' ? 1 : -1))
  const keys: SortKey[][] = []
  return {
    add(row: unknown): void {
      keys.push(paths.map((path) => toSortKey(valueAt(row, path))))
    },
    places(): Uint32Array {
      let compared = 0
      return Uint32Array.from(keys.keys()).sort((left, right) => {
        compared += 1
        if (compared % COMPARED_PER_CHECKPOINT === 0) checkpoint()
        return compare(keys[left], keys[right], signs) || left - right
      })
    },
  }
}

function compare(
  left: readonly SortKey[] = [],
  right: readonly SortKey[] = [],
  signs: readonly number[],
): number {
  for (const [at, sign] of signs.entries()) {
    const [leftRank, leftValue] = left[at] ?? NOTHING
    const [rightRank, rightValue] = right[at] ?? NOTHING
    if (leftRank !== rightRank) return leftRank - rightRank
    if (leftValue !== rightValue) return (leftValue < rightValue ? -1 : 1) * sign
  }
  return 0
}

function toSortKey(value: unknown): SortKey {
  if (typeof value === 'number') return [0, value]
  if (typeof value === 'string') return [1, value]
  if (typeof value === 'boolean') return [2, Number(value)]
  return value === null || value === undefined ? NOTHING : [3, JSON.stringify(value)]
}
