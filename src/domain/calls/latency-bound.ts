/**
 * Bounds the latency of the calls that a page sorted by it can have: a store then reads of all other calls the latency
 * alone. Pure.
 */
import type { CallsSelection } from './calls-query.ts'

/** Limit: calls up to the end of a page for which a bound is looked for. */
const PAGE_END_MAX = 10_000

/** Calls outside of the bound, and those without a latency, are not on the page. */
export interface LatencyBound {
  /** With 'desc' the bound is the lowest latency, with 'asc' the highest. */
  readonly direction: 'asc' | 'desc'
  readonly latency_ms: number
}

interface LatencyPage {
  readonly direction: 'asc' | 'desc'
  /** How many calls, in the order of their latencies, decide the bound: the last one has it. */
  readonly calls: number
}

/** Returns null for a selection that is sorted otherwise, or whose calls are not known by the filter alone. */
export function latencyPage({
  expression,
  sort: [first],
  offset,
  limit,
}: Pick<CallsSelection, 'expression' | 'sort' | 'offset' | 'limit'>): LatencyPage | null {
  const calls = offset + limit
  if (first?.path.join('.') !== 'summary.weave.latency_ms') return null
  if (expression !== null || calls === 0 || calls > PAGE_END_MAX) return null
  return { direction: first.direction, calls }
}
