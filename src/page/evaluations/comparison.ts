/** Compares the examples of several runs by how much a score differs from that of the first run. Pure. */
import { type Example, mergeTrials } from './example.ts'
import { numberOf } from './scores.ts'

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

/** Whether a run has another score than the first run, in any example. */
export function isDifferent(runs: readonly (readonly Example[])[], score: string): boolean {
  return compareExamples(runs, score, false).some(({ gains }) => gains.some((gain) => gain))
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
