/** Measures of agreement between two raters, or among many. Pure. */
import { numberOf, type Rating } from './rating.ts'

/** Limit: labels of a confusion table. */
const LABELS_MAX = 20

/** Ratings of the same call by two raters. */
export type RatedPair = readonly [left: Rating, right: Rating]

/** Returns the distinct ratings in order: failure before pass, numbers, words. */
function labelsOf(ratings: readonly Rating[]): Rating[] {
  return [...new Set(ratings)].sort(compareRatings)
}

function compareRatings(one: Rating, other: Rating): number {
  const [left, right] = [numberOf(one), numberOf(other)]
  if (left !== null && right !== null) return left - right
  if (left !== null || right !== null) return left === null ? 1 : -1
  return one < other ? -1 : Number(one > other)
}

/**
 * Cohen's kappa: agreement beyond that of raters who give their labels at random, as often as they do.
 *
 * @returns null without pairs, and where both give one label alone
 */
export function kappaOf(pairs: readonly RatedPair[]): number | null {
  const agreed = pairs.filter(([left, right]) => left === right).length
  const rights = countBy(pairs.map(([, right]) => right))
  let byChance = 0
  for (const [label, count] of countBy(pairs.map(([left]) => left))) {
    byChance += count * (rights.get(label) ?? 0)
  }
  const square = pairs.length ** 2
  return ratio(pairs.length * agreed - byChance, square - byChance)
}

/** Kappa weighted by the squared difference of numbers. @returns null as kappaOf, and where ratings are no numbers */
export function weightedKappaOf(pairs: readonly RatedPair[]): number | null {
  const numbers = numbersOf(pairs)
  if (numbers === null) return null
  // Differences do not depend on the origin; near it no digits of squares are lost.
  const [origin = 0] = numbers[0] ?? []
  const left = momentsOf(numbers.map(([one]) => one - origin))
  const right = momentsOf(numbers.map(([, two]) => two - origin))
  const observed = sum(numbers.map(([one, two]) => (one - two) ** 2))
  const count = numbers.length
  const expected = count * (left.squares + right.squares) - 2 * left.sum * right.sum
  return ratio(expected - count * observed, expected)
}

/** @returns null without pairs, and where ratings are no numbers */
export function meanDifferenceOf(pairs: readonly RatedPair[]): number | null {
  const numbers = numbersOf(pairs)
  if (numbers === null) return null
  return ratio(sum(numbers.map(([one, two]) => Math.abs(one - two))), numbers.length)
}

/** Counts pairs by label. @returns null for more than LABELS_MAX labels */
export function confusionOf(
  pairs: readonly RatedPair[],
): { readonly labels: Rating[]; readonly confusion: number[][] } | null {
  const labels = labelsOf(pairs.flat())
  if (labels.length > LABELS_MAX) return null
  const confusion = labels.map(() => labels.map(() => 0))
  for (const [left, right] of pairs) {
    const row = confusion[labels.indexOf(left)] as number[]
    row[labels.indexOf(right)] = (row[labels.indexOf(right)] ?? 0) + 1
  }
  return { labels, confusion }
}

/**
 * Krippendorff's alpha for any number of raters, who need not rate everything.
 *
 * @param units - the ratings of each call
 * @param level - `interval` is for numbers alone
 * @returns null where nothing was rated twice, and where all ratings are the same
 */
export function alphaOf(
  units: readonly (readonly Rating[])[],
  level: 'nominal' | 'interval',
): number | null {
  const rated = units.filter(({ length }) => length > 1)
  const all = rated.flat()
  const differences = level === 'nominal' ? countUnequal : sumSquares
  const observed = sum(rated.map((unit) => differences(unit) / (unit.length - 1)))
  const expected = differences(all) / (all.length - 1)
  return all.length === 0 ? null : ratio(expected - observed, expected)
}

/** The number of ordered pairs of unequal ratings. */
function countUnequal(ratings: readonly Rating[]): number {
  return ratings.length ** 2 - sum(Array.from(countBy(ratings).values(), (count) => count ** 2))
}

/** The sum of squared differences of all ordered pairs. */
function sumSquares(ratings: readonly Rating[]): number {
  const origin = Number(ratings[0] ?? 0)
  const { squares, sum: total } = momentsOf(ratings.map((rating) => Number(rating) - origin))
  return 2 * (ratings.length * squares - total ** 2)
}

function numbersOf(pairs: readonly RatedPair[]): [number, number][] | null {
  const numbers = pairs.map(([left, right]) => [numberOf(left), numberOf(right)])
  if (numbers.some((pair) => pair.includes(null))) return null
  return numbers as [number, number][]
}

function momentsOf(numbers: readonly number[]) {
  return { sum: sum(numbers), squares: sum(numbers.map((one) => one ** 2)) }
}

function countBy(ratings: readonly Rating[]): Map<Rating, number> {
  const counts = new Map<Rating, number>()
  for (const rating of ratings) counts.set(rating, (counts.get(rating) ?? 0) + 1)
  return counts
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}

function ratio(part: number, whole: number): number | null {
  const value = part / whole
  return whole === 0 || !Number.isFinite(value) ? null : value
}
