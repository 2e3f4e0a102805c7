/** A call as scorers see it. Pure. */
import { renderTimestamp, renderTimestampOrNull } from '../../schemas/timestamp.ts'
import { latencyMs, type StoredCall } from '../calls/call-view.ts'
import { priceUsage, totalUsd } from '../prices/cost.ts'
import type { PriceTable } from '../prices/price-table.ts'
import type { ScoredSubject } from './score.ts'

/** The fields of a call that scorers read. */
type ScoredCall = Pick<
  StoredCall,
  | 'id'
  | 'trace_id'
  | 'thread_id'
  | 'op_name'
  | 'inputs'
  | 'output'
  | 'exception'
  | 'attributes'
  | 'summary'
  | 'started_at_us'
  | 'ended_at_us'
>

/** @param table - the prices of the call's project */
export function toScoredSubject(call: ScoredCall, table: PriceTable): ScoredSubject {
  const { id, trace_id, thread_id, op_name, inputs, output, exception, attributes, summary } = call
  const { started_at_us, ended_at_us } = call
  return {
    id,
    trace_id,
    thread_id,
    op_name,
    inputs,
    output,
    exception,
    attributes,
    summary,
    started_at: renderTimestamp(started_at_us),
    ended_at: renderTimestampOrNull(ended_at_us),
    latency_ms: ended_at_us === null ? null : latencyMs(started_at_us, ended_at_us),
    cost_usd: costOfCall(call, table),
  }
}

/** US dollars of the usage that a call reports; null: none of its models has a price. */
export function costOfCall(
  call: Pick<StoredCall, 'summary' | 'attributes' | 'started_at_us'>,
  table: PriceTable,
): number | null {
  return totalUsd(priceUsage(call, table))
}
