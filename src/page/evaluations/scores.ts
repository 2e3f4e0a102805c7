/** Reads scores from the output of scorers, and compares them. Pure. */
import { formatDigits, isExactNumber, roundedNumber } from '../api/exact-json.ts'

/** A score of one example or of a run; texts are labels. */
export type Score = number | boolean | string
export type Scores = Readonly<Record<string, Score>>

const MS_PER_S = 1000
/** Limit: scores read from one value. */
const SCORES_MAX = 100
/** Longer texts are reasons rather than labels. */
const LABEL_CHARS_MAX = 40
/** Suffixes under which the SDKs sum up numbers and booleans; they are left out of the name of a score. */
const SUMMED = /\.(?:mean|true_fraction)$/
const COUNTED = /\.true_count$/
/** Names of scores for which less is better. */
const COSTLY =
  /(?:^|[:._\s-])(?:latency|cost|costs|tokens|error|errors|loss|distance|toxicity|hallucination)(?:$|[._\s-])/i

/** The numbers, booleans and labels inside a value, by their paths. */
export function scoresOf(value: unknown): Scores {
  const found: Record<string, Score> = {}
  collect(value, '', found)
  return found
}

function collect(value: unknown, path: string, found: Record<string, Score>): void {
  if (Object.keys(found).length >= SCORES_MAX) return
  const score = typeof value === 'boolean' ? value : numberIn(value)
  if (score !== null) {
    found[path.replace(SUMMED, '')] = score
  } else if (typeof value === 'string') {
    if (value.length <= LABEL_CHARS_MAX && !value.includes('\n')) found[path] = value
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value))
      collect(member, path === '' ? name : `${path}.${name}`, found)
  }
}

/** A number written by a program, rounded to what can be calculated with. */
function numberIn(value: unknown): number | null {
  return typeof value === 'number' || isExactNumber(value) ? roundedNumber(value) : null
}

/** Seconds written by a program, in milliseconds; null for what is no number. */
export function secondsAsMs(value: unknown): number | null {
  const seconds = numberIn(value)
  return seconds === null ? null : seconds * MS_PER_S
}

/** A score as a number; null for labels and missing scores. */
export function numberOf(score: Score | undefined): number | null {
  if (typeof score === 'boolean') return score ? 1 : 0
  return typeof score === 'number' && Number.isFinite(score) ? score : null
}

/** Whether less is better, by the name of a score. */
export function isBetterLow(name: string): boolean {
  return COSTLY.test(name)
}

/** Whether neither direction is better, as for means over outputs, which are no scores. */
export function isNeutral(name: string): boolean {
  return name === 'output' || name.startsWith('output.')
}

/** Means of the numbers of each score. */
export function meansOf(all: readonly Scores[]): Scores {
  const sums = new Map<string, { sum: number; count: number }>()
  for (const scores of all) {
    for (const [name, score] of Object.entries(scores)) {
      const value = numberOf(score)
      if (value === null) continue
      const { sum, count } = sums.get(name) ?? { sum: 0, count: 0 }
      sums.set(name, { sum: sum + value, count: count + 1 })
    }
  }
  return Object.fromEntries([...sums].map(([name, { sum, count }]) => [name, sum / count]))
}

/** Names of all scores in order of appearance, without counts that have a fraction next to them. */
export function namesOf(all: readonly Scores[]): readonly string[] {
  return [...new Set(all.flatMap(Object.keys))].filter((name) => !COUNTED.test(name))
}

/** So many digits, but never fewer than stand before the point. */
function formatOf(digits: number, signDisplay: 'auto' | 'exceptZero'): Intl.NumberFormat {
  return new Intl.NumberFormat('en', {
    maximumSignificantDigits: digits,
    maximumFractionDigits: 0,
    roundingPriority: 'morePrecision',
    signDisplay,
  })
}
const numbers = formatOf(4, 'auto')
const differences = formatOf(3, 'exceptZero')

export function formatScore(score: Score | null | undefined): string {
  if (score === null || score === undefined) return '–'
  return typeof score === 'number' ? formatDigits(score, numbers) : String(score)
}

/** With a sign: the minus of the differences of times and costs. */
export function formatDifference(difference: number): string {
  const words = formatDigits(difference, differences)
  if (difference > 0 && !words.startsWith('+')) return `+${words}`
  return words.replace(/^-/, '−')
}
