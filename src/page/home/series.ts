/** Turns buckets of statistics into lines of charts. */
import type { StatsResponse } from '../api/wire.ts'
import type { Line } from '../parts/charts/line.ts'

/** Colours of models with a line of their own; the others share one line. */
const COLORS = ['--chart-1', '--chart-2', '--chart-3', '--chart-4', '--chart-5']
const OTHERS = { label: 'other models', color: '--chart-6' }

/** Starts of buckets, seconds. */
export function timesOf({ call_buckets }: StatsResponse): number[] {
  return call_buckets.map(({ timestamp }) => Date.parse(timestamp) / 1000)
}

export function lineOf(answer: StatsResponse, label: string, metric: string, color?: string): Line {
  const values = answer.call_buckets.map((bucket) => numberOf(bucket, metric))
  return { label, values, ...(color === undefined ? {} : { color }) }
}

/** The lines of the charts that `chartsRequest` requests. */
export function linesOf(answer: StatsResponse) {
  const tokens = linesByModel(answer, 'sum_total_tokens')
  return {
    times: timesOf(answer),
    calls: [lineOf(answer, 'calls', 'sum_call_count', '--chart-1')],
    errors: [lineOf(answer, 'errors', 'sum_error_count', '--bad')],
    tokens,
    costs: linesByModel(answer, 'sum_total_cost', tokens),
    latencies: [50, 95, 99].map((p) => lineOf(answer, `p${p}`, `p${p}_latency_ms`)),
  }
}

/**
 * One line for each model with the largest totals of a metric, and one for the rest. Models without values, such as
 * costs without a price, have no line.
 *
 * @param like - lines of another metric, whose models keep their colours
 */
export function linesByModel(
  answer: StatsResponse,
  metric: string,
  like: readonly Line[] = [],
): Line[] {
  return modelLines(answer, metric, { like, isSum: true })
}

/**
 * Lines of values that cannot be added up, such as averages: those of the models with the most calls. Buckets without
 * calls have no value, and other models no line.
 */
export function measuresByModel(answer: StatsResponse, metric: string): Line[] {
  return modelLines(answer, metric, { like: [], isSum: false })
}

interface Joined {
  readonly like: readonly Line[]
  /** Whether values can be added up. */
  readonly isSum: boolean
}

function modelLines(answer: StatsResponse, metric: string, { like, isSum }: Joined): Line[] {
  const buckets = answer.usage_buckets.flatMap((bucket) => {
    const value = numberOf(bucket, metric)
    // Without calls everything is 0, also the cost of a model that has no price.
    if (value === null || bucket.count === 0) return []
    const weight = isSum ? value : Number(bucket.count)
    return [{ model: bucket.model, timestamp: bucket.timestamp, value, weight }]
  })
  const totals = new Map<string, number>()
  for (const { model, weight } of buckets) totals.set(model, (totals.get(model) ?? 0) + weight)
  const ordered = [...totals].sort(([, a], [, b]) => b - a).map(([model]) => model)
  const own = ordered.slice(0, COLORS.length)
  const index = new Map(answer.call_buckets.map(({ timestamp }, at) => [timestamp, at]))
  const lines = new Map<string, (number | null)[]>()
  for (const { model, timestamp, value } of buckets) {
    const at = index.get(timestamp)
    const isOwn = own.includes(model)
    if (at === undefined || (!isOwn && !isSum)) continue
    const label = isOwn ? model : OTHERS.label
    const values = lines.get(label) ?? new Array(index.size).fill(isSum ? 0 : null)
    values[at] = (values[at] ?? 0) + value
    lines.set(label, values)
  }
  return [...withColors(own, like), OTHERS].flatMap(({ label, color }) => {
    const values = lines.get(label)
    return values === undefined ? [] : [{ label, values, color }]
  })
}

/** Assigns each model the colour that it has in the other lines, or a free one. */
function withColors(models: readonly string[], like: readonly Line[]) {
  const own = like.filter(({ label }) => models.includes(label))
  const known = new Map(own.map(({ label, color }) => [label, color]))
  const taken = new Set(known.values())
  const free = COLORS.filter((color) => !taken.has(color))
  return models.map((label) => ({
    label,
    color: known.get(label) ?? free.shift() ?? OTHERS.color,
  }))
}

export function sumOf(lines: readonly Line[]): number {
  return lines.reduce(
    (sum, { values }) => sum + values.reduce<number>((part, value) => part + (value ?? 0), 0),
    0,
  )
}

/** Sums of lines by bucket; null where none has a value. */
export function valuesOf(lines: readonly Line[]): (number | null)[] {
  const [first] = lines
  return (first?.values ?? []).map((_, at) =>
    lines.reduce<number | null>((sum, { values }) => {
      const value = values[at] ?? null
      return value === null ? sum : (sum ?? 0) + value
    }, null),
  )
}

function numberOf(bucket: object, metric: string): number | null {
  const value = (bucket as Record<string, unknown>)[metric]
  return typeof value === 'number' ? value : null
}
