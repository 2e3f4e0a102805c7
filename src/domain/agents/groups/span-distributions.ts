/** Counts of the values that a custom attribute has in a group of spans. Pure. */
import type { SpanDistribution } from '../../../schemas/agents/agent-spans.ts'
import type { SpanDistributionSpec } from '../../../schemas/agents/span-values.ts'
import { type AgentSpan, customAttribute } from '../agent-span.ts'
import { createHistogram } from './histogram.ts'
import { type Budget, createBudget } from './span-measures.ts'

/** Limit: bins and values of the distributions of one response. */
const ENTRIES_MAX = 100_000

export interface Distribution {
  add(span: AgentSpan): void
  /** @param entries - of the response */
  render(entries: Budget): SpanDistribution
}

/** The limit of what the distributions of one response show. */
export function createDistributionEntries(): Budget {
  return createBudget(ENTRIES_MAX)
}

/** A distribution without spans. @param kept - limits the values that are kept */
export function createDistribution(spec: SpanDistributionSpec, kept: Budget): Distribution {
  const { alias, value, bins, top_n } = spec
  const { source, key } = value
  const isNumeric = source === 'custom_attrs_int' || source === 'custom_attrs_float'
  const counts = new Map<string | number, number>()
  let [total_count, present_count] = [0, 0]

  return {
    add(span) {
      total_count += 1
      const found = customAttribute(span, source, key)
      if (found === undefined) return
      present_count += 1
      const counted = typeof found === 'boolean' ? String(found) : found
      const count = counts.get(counted) ?? 0
      if (count === 0) kept.keep(counted)
      counts.set(counted, count + 1)
    },
    render(entries) {
      const numbers = [...counts] as [number, number][]
      const values = isNumeric ? [] : mostFrequent([...counts] as [string, number][], top_n)
      for (const each of values) entries.keep(each.value)
      const shown = values.reduce((sum, { count }) => sum + count, 0)
      return {
        alias,
        source,
        key,
        value_type: source.replace('custom_attrs_', '') as SpanDistribution['value_type'],
        total_count,
        present_count,
        missing_count: total_count - present_count,
        other_count: isNumeric ? 0 : present_count - shown,
        bins: isNumeric ? countBins(numbers, bins, entries) : [],
        values,
      }
    },
  }
}

function mostFrequent(counts: [string, number][], limit: number): SpanDistribution['values'] {
  return counts
    .sort(([left, a], [right, b]) => b - a || (left < right ? -1 : 1))
    .slice(0, limit)
    .map(([value, count]) => ({ value, count }))
}

function countBins(
  counts: readonly (readonly [number, number])[],
  bins: number,
  entries: Budget,
): SpanDistribution['bins'] {
  if (counts.length === 0) return []
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const [value] of counts) [low, high] = [Math.min(low, value), Math.max(high, value)]
  const histogram = createHistogram(low, high, bins)
  entries.take(histogram.size)
  const filled = Array.from({ length: histogram.size }, (_, index) => ({
    index,
    min: histogram.min(index),
    max: histogram.max(index),
    count: 0,
  }))
  for (const [value, count] of counts) {
    const bin = filled[histogram.indexOf(value)]
    if (bin) bin.count += count
  }
  return filled
}
