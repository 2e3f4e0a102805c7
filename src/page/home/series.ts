/** Buckets of statistics to lines of charts. */
import type { StatsAnswer } from '../api/wire.ts'
import type { Line } from '../parts/charts/chart.ts'

/** Models with a line of their own; the others share one. */
const MODELS_MAX = 5
const OTHERS = 'other models'

/** Starts of buckets, seconds. */
export function timesOf({ call_buckets }: StatsAnswer): number[] {
  return call_buckets.map(({ timestamp }) => Date.parse(timestamp) / 1000)
}

export function lineOf(answer: StatsAnswer, label: string, metric: string, color?: string): Line {
  const values = answer.call_buckets.map((bucket) => numberOf(bucket, metric))
  return { label, values, ...(color === undefined ? {} : { color }) }
}

/** One line for each of the models that have most of a metric, and one for the rest. */
export function linesByModel(answer: StatsAnswer, metric: string): Line[] {
  const totals = new Map<string, number>()
  for (const bucket of answer.usage_buckets) {
    totals.set(bucket.model, (totals.get(bucket.model) ?? 0) + (numberOf(bucket, metric) ?? 0))
  }
  const ordered = [...totals].sort(([, a], [, b]) => b - a).map(([model]) => model)
  const own = new Set(ordered.slice(0, MODELS_MAX))
  const index = new Map(answer.call_buckets.map(({ timestamp }, at) => [timestamp, at]))
  const lines = new Map<string, number[]>()
  for (const bucket of answer.usage_buckets) {
    const at = index.get(bucket.timestamp)
    if (at === undefined) continue
    const label = own.has(bucket.model) ? bucket.model : OTHERS
    const values = lines.get(label) ?? new Array(index.size).fill(0)
    values[at] += numberOf(bucket, metric) ?? 0
    lines.set(label, values)
  }
  const order = [...ordered.slice(0, MODELS_MAX), OTHERS]
  return order.flatMap((label) => {
    const values = lines.get(label)
    return values === undefined ? [] : [{ label, values }]
  })
}

export function hasValue({ values }: Line): boolean {
  return values.some((value) => value !== null)
}

export function sumOf(lines: readonly Line[]): number {
  return lines.reduce(
    (sum, { values }) => sum + values.reduce<number>((part, value) => part + (value ?? 0), 0),
    0,
  )
}

function numberOf(bucket: object, metric: string): number | null {
  const value = (bucket as Record<string, unknown>)[metric]
  return typeof value === 'number' ? value : null
}
