/** The panels of an overview: what each measures, and the request for its values. Pure. */
import type { StatsQueryBody, StatsWindow } from '../../api/wire.ts'

/** Charts that every overview has until people remove them. They share one request. */
export const BUILT_IN = ['calls', 'errors', 'latency', 'tokens', 'cost'] as const
export type BuiltIn = (typeof BUILT_IN)[number]

export const TITLES: Readonly<Record<BuiltIn, string>> = {
  calls: 'Calls',
  errors: 'Errors',
  latency: 'Latency',
  tokens: 'Tokens by model',
  cost: 'Cost by model',
}

type Unit = 'count' | 'ms' | 'dollars'

interface Metric {
  readonly label: string
  readonly of: 'call_metrics' | 'usage_metrics'
  readonly unit: Unit
  /** Its only measure, where others mean nothing. */
  readonly only?: 'sum'
}

export const METRICS: Readonly<Record<string, Metric>> = {
  call_count: { label: 'Calls', of: 'call_metrics', unit: 'count', only: 'sum' },
  error_count: { label: 'Errors', of: 'call_metrics', unit: 'count', only: 'sum' },
  latency_ms: { label: 'Latency', of: 'call_metrics', unit: 'ms' },
  total_tokens: { label: 'Tokens', of: 'usage_metrics', unit: 'count' },
  input_tokens: { label: 'Input tokens', of: 'usage_metrics', unit: 'count' },
  output_tokens: { label: 'Output tokens', of: 'usage_metrics', unit: 'count' },
  cache_read_input_tokens: { label: 'Cached tokens', of: 'usage_metrics', unit: 'count' },
  reasoning_tokens: { label: 'Reasoning tokens', of: 'usage_metrics', unit: 'count' },
  total_cost: { label: 'Cost', of: 'usage_metrics', unit: 'dollars' },
  input_cost: { label: 'Cost of input', of: 'usage_metrics', unit: 'dollars' },
  output_cost: { label: 'Cost of output', of: 'usage_metrics', unit: 'dollars' },
}

export const MEASURES: Readonly<Record<string, string>> = {
  sum: 'total',
  avg: 'average',
  min: 'least',
  max: 'most',
  p50: 'median',
  p90: '90th percentile',
  p95: '95th percentile',
  p99: '99th percentile',
}

/** A panel that somebody made. */
export interface OwnPanel {
  /** Empty: named by what it measures. */
  readonly title: string
  /** A name of `METRICS`. */
  readonly metric: string
  /** A name of `MEASURES`. */
  readonly measure: string
  readonly kind: 'lines' | 'bars'
  /** Names of operations, with all of their versions; empty for all. */
  readonly ops: readonly string[]
  /** End users; empty for all. */
  readonly endUsers: readonly string[]
  /** Whether calls below others are left out. */
  readonly isRootsOnly: boolean
}

/** An entry of the arrangement. */
export interface Panel {
  /** A name of `BUILT_IN`, or random. */
  readonly id: string
  /** Null for a chart that is built in, and for what this version of the page cannot read. */
  readonly own: OwnPanel | null
}

/** Limit: panels that are shown of a project. */
export const PANELS_MAX = 30

export const DEFAULT_PANELS: readonly Panel[] = BUILT_IN.map((id) => ({ id, own: null }))

/** @param saved - the value as saved; another version of the page may have written it */
export function panelOf(saved: Readonly<Record<string, unknown>>): Panel | null {
  const { id, title, metric, measure, kind, ops, endUsers, isRootsOnly } = saved
  if (typeof id !== 'string') return null
  const isKnown =
    typeof metric === 'string' &&
    typeof measure === 'string' &&
    measuresOf(metric).includes(measure)
  if (!isKnown) return { id, own: null }
  return {
    id,
    own: {
      title: typeof title === 'string' ? title : '',
      metric,
      measure,
      kind: kind === 'bars' ? 'bars' : 'lines',
      ops: textsOf(ops),
      endUsers: textsOf(endUsers),
      isRootsOnly: isRootsOnly === true,
    },
  }
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : []
}

/** The measures that a metric takes; none for an unknown metric. */
export function measuresOf(metric: string): readonly string[] {
  if (!Object.hasOwn(METRICS, metric)) return []
  const { only } = METRICS[metric] as Metric
  return only === undefined ? Object.keys(MEASURES) : [only]
}

export function titleOf({ title, metric, measure, ops, endUsers }: OwnPanel): string {
  if (title !== '') return title
  const { label = metric } = METRICS[metric] ?? {}
  const words = measure === 'sum' ? label : `${label}, ${MEASURES[measure]}`
  const scope = [...ops, ...endUsers].join(', ')
  return scope === '' ? words : `${words}: ${scope}`
}

export function nameOf({ id, own }: Panel): string {
  return own === null ? (TITLES[id as BuiltIn] ?? 'The panel') : titleOf(own)
}

/** Whether values of models can be added up. */
export function isSum({ measure }: OwnPanel): boolean {
  return measure === 'sum'
}

/** Key of the values in a bucket. */
export function keyOf({ metric, measure }: OwnPanel): string {
  return `${measure}_${metric}`
}

/**
 * @param window - project, range and size of buckets
 * @param refScheme - of refs of operations
 */
export function statsQueryOf(
  panel: OwnPanel,
  window: StatsWindow,
  refScheme: string,
): StatsQueryBody {
  const { metric, measure, ops, endUsers, isRootsOnly } = panel
  const percentile = /^p(\d+)$/.exec(measure)?.[1]
  const asked =
    percentile === undefined
      ? { metric, aggregations: [measure] }
      : { metric, aggregations: [], percentiles: [Number(percentile)] }
  const isUsage = METRICS[metric]?.of === 'usage_metrics'
  const path = `${refScheme}:///${window.project_id}/op/`
  return {
    ...window,
    // The buckets of calls have the times, also where no model was used.
    call_metrics: isUsage ? [{ metric: 'call_count' }] : [asked],
    usage_metrics: isUsage ? [asked] : [],
    filter: {
      op_names: ops.flatMap((op) => [op, `${path}${encodeURIComponent(op)}:*`]),
      end_user_ids: [...endUsers],
      trace_roots_only: isRootsOnly,
    },
  }
}

/** Moves an entry towards the begin or the end of a list; at its ends it stays. */
export function moved<Entry extends { readonly id: string }>(
  entries: readonly Entry[],
  id: string,
  to: number,
): readonly Entry[] {
  const entry = entries.find((other) => other.id === id)
  if (entry === undefined) return entries
  return entries.filter((other) => other !== entry).toSpliced(Math.max(0, to), 0, entry)
}
