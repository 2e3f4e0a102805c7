/** How often values are given: numbers in bins, labels by their counts. Pure. */
import { isExactNumber, roundedNumber } from '../api/exact-json.ts'
import { formatNumber, preview } from '../parts/format.ts'

/** Limits: bins of numbers, distinct numbers that have a row each, and labels. */
const BINS = 10
const DISTINCT_MAX = 12
const LABELS_MAX = 20
const LABEL_CHARS = 120

export interface Bin {
  readonly label: string
  readonly count: number
}

/** Bins of equal width from the least to the greatest number; few distinct numbers have a bin each. */
export function binsOf(numbers: readonly number[]): readonly Bin[] {
  const sorted = numbers.toSorted((a, b) => a - b)
  const distinct = [...new Set(sorted)]
  if (distinct.length <= DISTINCT_MAX)
    return distinct.map((number) => ({
      label: formatNumber(number),
      count: numbers.filter((other) => other === number).length,
    }))
  const [least = 0, most = 0] = [sorted[0], sorted.at(-1)]
  // Not of their difference, which may be infinite.
  const edge = (at: number) => least + (most / BINS - least / BINS) * at
  return Array.from({ length: BINS }, (_, at) => {
    const [from, to] = [edge(at), edge(at + 1)]
    const isLast = at === BINS - 1
    const count = sorted.filter((number) => number >= from && (isLast || number < to)).length
    const words = `${formatNumber(from)} – ${formatNumber(isLast ? most : to)}`
    return { label: words, count }
  })
}

/** The most frequent labels, and the others as one. */
export function labelsOf(values: readonly unknown[]): readonly Bin[] {
  const counts = new Map<string, number>()
  for (const value of values) {
    const label = preview(value, LABEL_CHARS)
    counts.set(label, (counts.get(label) ?? 0) + 1)
  }
  const bins = [...counts]
    .map(([label, count]) => ({ label, count }))
    .sort((a, b) => b.count - a.count || a.label.localeCompare(b.label))
  const others = bins.slice(LABELS_MAX).reduce((sum, { count }) => sum + count, 0)
  return [...bins.slice(0, LABELS_MAX), ...(others > 0 ? [{ label: 'others', count: others }] : [])]
}

/** The numbers among values. */
export function numbersIn(values: readonly unknown[]): readonly number[] {
  return values.flatMap((value) => {
    const number = isExactNumber(value) || typeof value === 'number' ? roundedNumber(value) : null
    return number !== null && Number.isFinite(number) ? [number] : []
  })
}
