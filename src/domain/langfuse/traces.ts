/** Calls without a parent as traces of Langfuse's API. Pure. */
import { renderTimestamp } from '../../schemas/timestamp.ts'
import type { StoredCall } from '../calls/call-view.ts'
import { parseText } from '../otel/span-reader.ts'
import { valueAt } from '../query/query-values.ts'
import {
  contextOf,
  metadataOf,
  observationName,
  type PricedObservation,
  parsedBodies,
  totalCostOf,
} from './observations.ts'

/** The groups of fields of traces, besides the core. */
export const TRACE_GROUPS = ['io', 'scores', 'observations', 'metrics'] as const
export type TraceGroup = (typeof TRACE_GROUPS)[number]

/** A trace without what is found by its other calls. */
export function renderTrace(root: StoredCall, withBodies: boolean) {
  const { traceName, ...context } = contextOf(root)
  const timestamp = renderTimestamp(root.started_at_us)
  return {
    id: root.trace_id,
    projectId: root.project_id,
    timestamp,
    name: traceName ?? observationName(root),
    ...context,
    ...(withBodies ? traceBodies(root) : { input: null, output: null, metadata: {} }),
    externalId: null,
    createdAt: timestamp,
    updatedAt: renderTimestamp(root.ended_at_us ?? root.started_at_us),
    htmlPath: `/project/${root.project_id}/traces/${encodeURIComponent(root.trace_id)}`,
  }
}

function traceBodies(root: StoredCall) {
  const sent = (name: string) => valueAt(root.attributes, ['langfuse', 'trace', name])
  const { input, output } = parsedBodies(root)
  return {
    input: parseText(sent('input') ?? input),
    output: parseText(sent('output') ?? output),
    metadata: { ...metadataOf(root, 'observation'), ...metadataOf(root, 'trace') },
  }
}

/** What is known of a trace from all of its calls: seconds and US dollars. */
export function traceMetrics(priced: readonly PricedObservation[]) {
  let [beginUs, endUs, totalCost] = [Number.POSITIVE_INFINITY, 0, 0]
  for (const one of priced) {
    const { started_at_us, ended_at_us } = one.call
    beginUs = Math.min(beginUs, started_at_us)
    endUs = Math.max(endUs, ended_at_us ?? started_at_us)
    totalCost += totalCostOf(one) ?? 0
  }
  return { latency: priced.length === 0 ? 0 : (endUs - beginUs) / 1e6, totalCost }
}

/** Fields of the SDKs' types in place of metrics that were not asked for. */
export const NO_METRICS = { latency: -1, totalCost: -1 }
