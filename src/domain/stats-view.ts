/**
 * Tables of statistics as the API shows them: JSON text, written by hand, since there can be hundreds of
 * thousands of values. Pure.
 */
import { renderTimestamp } from '../schemas/timestamp.ts'
import type { BucketTable } from './bucket-table.ts'
import type { StatColumn } from './metric-names.ts'

/** Limit: characters of the header that names models. */
const HEADER_LENGTH_MAX = 2048

/** The list of all buckets by time. Spec: §2.9 call bucket. */
export function renderCallBuckets(
  startsUs: Float64Array,
  columns: readonly StatColumn[],
  table: BucketTable | null,
): string {
  if (table === null) return '[]'
  const keys = columns.map(renderKey)
  const buckets = Array.from(startsUs, (us, bucket) => {
    const head = `{"timestamp":"${renderTimestamp(us)}"`
    return head + renderValues(keys, table, bucket)
  })
  return `[${buckets.join(',')}]`
}

/** By time, then by model: each model in each bucket. Spec: §2.9 usage bucket. */
export function renderUsageBuckets(
  startsUs: Float64Array,
  columns: readonly StatColumn[],
  models: readonly { readonly model: string; readonly table: BucketTable }[],
): string {
  const keys = columns.map(renderKey)
  const named = models.map(({ model, table }) => ({
    model: `","model":${JSON.stringify(model)}`,
    table,
  }))
  const buckets: string[] = []
  startsUs.forEach((us, bucket) => {
    const head = `{"timestamp":"${renderTimestamp(us)}`
    for (const { model, table } of named) {
      buckets.push(head + model + renderValues(keys, table, bucket))
    }
  })
  return `[${buckets.join(',')}]`
}

function renderKey({ key }: StatColumn): string {
  return `,${JSON.stringify(key)}:`
}

/** The metric keys in request order, `count` last, and the end of the object. */
function renderValues(
  keys: readonly string[],
  { count, values }: BucketTable,
  bucket: number,
): string {
  let text = ''
  for (let index = 0; index < keys.length; index++) {
    const value = values[index]?.[bucket] ?? Number.NaN
    text += keys[index]
    text += Number.isNaN(value) ? 'null' : value
  }
  return `${text},"count":${count[bucket] ?? 0}}`
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
