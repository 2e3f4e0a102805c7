/**
 * Renders tables of statistics in the format of the API. The JSON is written by hand, since there can be hundreds of
 * thousands of values. Pure.
 */

import { renderTimestamp } from '../../schemas/timestamp.ts'
import { createJsonBytes, createTimestampBytes, type JsonBytes, utf8 } from '../json/json-bytes.ts'
import type { BucketTable } from './bucket-table.ts'
import type { GroupValues, ListedGroups } from './groups.ts'
import type { StatColumn } from './metric-names.ts'

/** Limit: characters of the header that names models. */
const HEADER_LENGTH_MAX = 2048

const BEGIN = utf8('[')
const END = utf8(']')
const COMMA = utf8(',')
const NULL = utf8('null')
const COUNT = utf8(',"count":')
const OBJECT_END = utf8('}')

/** The list of all buckets by time. Spec: §2.9 call bucket. */
export function renderCallBuckets(
  startsUs: Float64Array,
  columns: readonly StatColumn[],
  table: BucketTable | null,
): Uint8Array<ArrayBuffer>[] {
  const json = createJsonBytes()
  json.write(BEGIN)
  if (table !== null) {
    const keys = columns.map(renderKey)
    const headOf = createTimestampBytes('{"timestamp":"', '"')
    startsUs.forEach((us, bucket) => {
      if (bucket > 0) json.write(COMMA)
      json.write(headOf(us))
      writeValues(json, keys, table, bucket)
    })
  }
  json.write(END)
  return json.finish()
}

/** Renders buckets by time, then by model: each model in each bucket. Spec: §2.9 usage bucket. */
export function renderUsageBuckets(
  startsUs: Float64Array,
  columns: readonly StatColumn[],
  models: readonly { readonly model: string; readonly table: BucketTable }[],
): Uint8Array<ArrayBuffer>[] {
  const json = createJsonBytes()
  const keys = columns.map(renderKey)
  const named = models.map(({ model, table }) => ({
    model: utf8(`,"model":${JSON.stringify(model)}`),
    table,
  }))
  const headOf = createTimestampBytes('{"timestamp":"', '"')
  json.write(BEGIN)
  startsUs.forEach((us, bucket) => {
    const head = headOf(us)
    named.forEach(({ model, table }, index) => {
      if (bucket > 0 || index > 0) json.write(COMMA)
      json.write(head)
      json.write(model)
      writeValues(json, keys, table, bucket)
    })
  })
  json.write(END)
  return json.finish()
}

function renderKey({ key }: StatColumn): Uint8Array {
  return utf8(`,${JSON.stringify(key)}:`)
}

/** The metric keys in request order, `count` last, and the end of the object. */
function writeValues(
  json: JsonBytes,
  keys: readonly Uint8Array[],
  { count, values }: BucketTable,
  bucket: number,
): void {
  for (let index = 0; index < keys.length; index++) {
    const value = values[index]?.[bucket] ?? Number.NaN
    json.write(keys[index] as Uint8Array)
    if (Number.isNaN(value)) json.write(NULL)
    else json.writeNumber(value)
  }
  json.write(COUNT)
  json.writeNumber(count[bucket] ?? 0)
  json.write(OBJECT_END)
}

/** Renders groups and the rest of them as the fields of the response. An addition to the spec. */
export function renderGroups(
  { groups, others }: ListedGroups,
  columns: readonly StatColumn[],
): { readonly groups: readonly object[]; readonly other_groups: object | null } {
  const render = ({ count, values, firstUs, lastUs }: GroupValues) => ({
    ...(firstUs === null ? {} : { first_started_at: renderTimestamp(firstUs) }),
    ...(lastUs === null ? {} : { last_started_at: renderTimestamp(lastUs) }),
    ...Object.fromEntries(
      columns.map(({ key }, index) => [key, Number.isNaN(values[index]) ? null : values[index]]),
    ),
    count,
  })
  return {
    groups: groups.map((group) => ({ group: group.group, ...render(group) })),
    other_groups: others && { groups: others.groups, ...render(others) },
  }
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
