/** Compares the examples of several runs by how much a score differs from that of the first run. Pure. */
import { type Example, mergeTrials } from './example.ts'
import { isNeutral, numberOf } from './scores.ts'

/** An example and its result in each run; null if a run does not have it. */
export interface ComparedExample {
  readonly key: string
  readonly outcomes: readonly (Example | null)[]
  /** The score of each run; null where there is no number. */
  readonly values: readonly (number | null)[]
  /** Above 0 if better than the first run; null for the first run, and if either has no number. */
  readonly gains: readonly (number | null)[]
  /** The smallest gain; null if there is none. */
  readonly worst: number | null
}

/**
 * The examples of all runs; those with the largest regression come first, those that cannot be compared last.
 *
 * @param score - its name; @param isLowBetter - whether less of it is better
 */
export function compareExamples(
  runs: readonly (readonly Example[])[],
  score: string,
  isLowBetter: boolean,
): ComparedExample[] {
  const merged = runs.map(mergeTrials)
  const keys = new Set(merged.flatMap((examples) => [...examples.keys()]))
  const compared = [...keys].map((key): ComparedExample => {
    const outcomes = merged.map((examples) => examples.get(key) ?? null)
    const values = outcomes.map((outcome) => numberIn(outcome, score))
    const [base = null] = values
    const gains = values.map((value, at) => {
      if (at === 0 || value === null || base === null) return null
      return isLowBetter ? base - value : value - base
    })
    const known = gains.filter((gain) => gain !== null)
    return { key, outcomes, values, gains, worst: known.length === 0 ? null : Math.min(...known) }
  })
  const rankOf = ({ worst }: ComparedExample) => worst ?? Number.POSITIVE_INFINITY
  return compared.sort((left, right) =>
    rankOf(left) === rankOf(right) ? 0 : rankOf(left) - rankOf(right),
  )
}

/**
 * The score that differs most from the first run: by the mean difference of the examples, as a share of the range of its
 * values, so that scores of any scale compare. The latency, which always differs, only if no score does.
 */
export function findMostDifferent(
  runs: readonly (readonly Example[])[],
  names: readonly string[],
): string {
  const shares = names
    .filter((name) => name !== LATENCY && !isNeutral(name))
    .map((name) => ({ name, share: shareOf(compareExamples(runs, name, false)) }))
  const most = Math.max(0, ...shares.map(({ share }) => share))
  return (most > 0 && shares.find(({ share }) => share === most)?.name) || LATENCY
}

function shareOf(compared: readonly ComparedExample[]): number {
  let [lowest, highest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  let [sum, count] = [0, 0]
  for (const { values, gains } of compared) {
    for (const [run, value] of values.entries()) {
      const gain = gains[run] ?? null
      if (value !== null) [lowest, highest] = [Math.min(lowest, value), Math.max(highest, value)]
      if (gain !== null) [sum, count] = [sum + Math.abs(gain), count + 1]
    }
  }
  return sum === 0 ? 0 : sum / count / (highest - lowest)
}

export type Outcome = 'better' | 'worse' | 'same' | 'missing'

/** Whether an example is better or worse than in the first run, in any run; both can be. */
export function hasOutcome({ gains }: ComparedExample, outcome: Outcome): boolean {
  const known = gains.filter((gain) => gain !== null)
  if (outcome === 'missing') return known.length < gains.length - 1
  if (outcome === 'same') return known.length > 0 && known.every((gain) => gain === 0)
  return known.some((gain) => (outcome === 'better' ? gain > 0 : gain < 0))
}

/** The name under which the time of the model is compared; no scorer has a name with a space before it. */
export const LATENCY = ' latency'

function numberIn(outcome: Example | null, score: string): number | null {
  if (outcome === null) return null
  return score === LATENCY ? outcome.latencyMs : numberOf(outcome.scores[score])
}

interface Tally {
  readonly better: number
  readonly worse: number
  readonly same: number
}

/** Returns how many examples a run made better and worse than the first one. */
export function countOutcomes(compared: readonly ComparedExample[], run: number): Tally {
  const gains = compared.map((each) => each.gains[run]).filter((gain) => typeof gain === 'number')
  const better = gains.filter((gain) => gain > 0).length
  const worse = gains.filter((gain) => gain < 0).length
  return { better, worse, same: gains.length - better - worse }
}
