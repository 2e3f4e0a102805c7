/** An example of a run as the tables show it. Pure. */
import type { Status } from '../api/wire.ts'
import { meansOf, type Scores } from './scores.ts'

export interface Example {
  /** Equal for the same example in other runs. */
  readonly key: string
  readonly callId: string
  readonly status: Status
  /** Members of the example as shortened texts. */
  readonly inputs: Readonly<Record<string, string>>
  /** The model's output, shortened. */
  readonly output: string
  readonly scores: Scores
  readonly latencyMs: number | null
}

/** Merges the trials of an example into one, with mean scores. */
export function mergeTrials(examples: readonly Example[]): ReadonlyMap<string, Example> {
  const merged = new Map<string, Example>()
  for (const [key, trials] of Map.groupBy(examples, (example) => example.key)) {
    const [first] = trials
    if (first === undefined) continue
    const scores =
      trials.length === 1
        ? first.scores
        : { ...first.scores, ...meansOf(trials.map((trial) => trial.scores)) }
    const latencies = trials.flatMap(({ latencyMs }) => (latencyMs === null ? [] : [latencyMs]))
    const latencyMs = latencies.length === 0 ? null : sum(latencies) / latencies.length
    merged.set(key, { ...first, scores, latencyMs })
  }
  return merged
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
