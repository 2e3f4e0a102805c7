import { expect, it } from 'vitest'
import { ranksByNumber } from '../../../src/page/parts/tables/sort-rows.ts'

const ranksOf = (numbers: readonly (number | null)[], best: 'asc' | 'desc') => {
  const rows = numbers.map((number) => ({ number }))
  const ranks = ranksByNumber(rows, best, ({ number }) => number)
  return rows.map((row) => ranks.get(row))
}

it.each([
  [[0.5, 0.9, 0.5, 0.1], 'desc', [2, 1, 2, 4]],
  [[0.5, 0.9, 0.5, 0.1], 'asc', [2, 4, 2, 1]],
  [[null, 0, null, 3], 'asc', [undefined, 1, undefined, 2]],
  [[null], 'desc', [undefined]],
] as const)('ranks %j, %s first, as %j', (numbers, best, ranks) => {
  expect(ranksOf(numbers, best)).toEqual(ranks)
})
