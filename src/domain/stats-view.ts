/** Tables of statistics as the API shows them. Pure. */
import type { CallBucket, UsageBucket } from '../schemas/stats.ts'
import { renderTimestamp } from '../schemas/timestamp.ts'
import type { BucketTable } from './bucket-table.ts'
import type { StatColumn } from './metric-names.ts'

/** Limit: characters of the header that names models. */
const HEADER_LENGTH_MAX = 2048

/** All buckets by time. Spec: §2.9 call bucket. */
export function renderCallBuckets(
  startsUs: Float64Array,
  columns: readonly StatColumn[],
  table: BucketTable | null,
): CallBucket[] {
  if (table === null) return []
  return Array.from(startsUs, (us, bucket) => {
    const head = { timestamp: renderTimestamp(us) }
    return fill<CallBucket>(head, columns, table, bucket)
  })
}

/** By time, then by model: each model in each bucket. Spec: §2.9 usage bucket. */
export function renderUsageBuckets(
  startsUs: Float64Array,
  columns: readonly StatColumn[],
  models: readonly { readonly model: string; readonly table: BucketTable }[],
): UsageBucket[] {
  return Array.from(startsUs).flatMap((us, bucket) => {
    const timestamp = renderTimestamp(us)
    return models.map(({ model, table }) =>
      fill<UsageBucket>({ timestamp, model }, columns, table, bucket),
    )
  })
}

/** Adds the metric keys in request order, `count` last. */
function fill<Bucket>(
  head: Record<string, string | number | null>,
  columns: readonly StatColumn[],
  { count, values }: BucketTable,
  bucket: number,
): Bucket {
  columns.forEach(({ key }, index) => {
    const value = values[index]?.[bucket] ?? Number.NaN
    head[key] = Number.isNaN(value) ? null : value
  })
  head.count = count[bucket] ?? 0
  return head as Bucket
}

/**
 * The value of `x-weft-unpriced-models`: percent-encoded names with commas between them, as many as fit.
 *
 * Spec: §4.4 usage_metrics (unknown prices not shown). Choice: they are named, never a silent 0.
 */
export function renderModelNames(models: readonly string[]): string {
  let text = ''
  for (const model of models) {
    const name = encodeURIComponent(model.toWellFormed())
    if (text.length + 1 + name.length > HEADER_LENGTH_MAX) break
    text += text === '' ? name : `,${name}`
  }
  return text
}
