/** What the tools of the Model Context Protocol read. */
import type { z } from 'zod'
import type { Principal } from '../../domain/access/permissions.ts'
import type { ReadCaller } from '../../domain/access/read-caller.ts'
import { resolveCallsSelection, resolveCallsShape } from '../../domain/calls/calls-query.ts'
import {
  cutJson,
  escapedBytes,
  renderToolCall,
  renderToolList,
  TEXT_BYTES_MAX,
} from '../../domain/mcp/tool-text.ts'
import { ApiError } from '../../errors.ts'
import type { CallsQueryRequest } from '../../schemas/calls/calls-query.ts'
import {
  type ListObjectsArguments,
  type ReadRowsArguments,
  type ReadTraceArguments,
  type SearchCallsArguments,
  TRACE_CALLS_MAX,
} from '../../schemas/mcp/tool-arguments.ts'
import type { CallStatsRequest } from '../../schemas/stats/stats.ts'
import { renderTimestamp } from '../../schemas/timestamp.ts'
import type { CallsQueryStore } from '../../store/api/calls/calls.ts'
import type { Stores } from '../../store/api/stores.ts'
import { withPrices } from '../calls/priced-selection.ts'
import { renderCallStats } from '../stats/stats.ts'

export interface ReadOptions
  extends Pick<Stores, 'callsQuery' | 'objects' | 'prices' | 'stats' | 'tables'> {
  readonly refScheme: string
}

export interface ToolCaller {
  readonly principal: Principal
  readonly reader: ReadCaller
}

/** Limit: values of statistics, whose text remains shorter than that of a result. */
const VALUES_MAX = 800
/** Limit: bytes of the contents of objects that one call of a tool reads. */
const CONTENT_BYTES_MAX = 8 * 1024 * 1024
const SEARCHED_FIELDS = ['op_name', 'exception', 'inputs', 'output']

export async function searchCalls(
  { project_id, text, filter, query, limit, offset, body_chars }: SearchCallsArguments,
  caller: ToolCaller,
  options: ReadOptions,
): Promise<string> {
  const conditions = [
    ...(query === undefined ? [] : [query.$expr]),
    ...(text === undefined ? [] : [searchCondition(text)]),
  ]
  const request = {
    project_id,
    filter,
    query: conditions.length === 0 ? null : { $expr: { $and: conditions } },
    sort_by: [{ field: 'started_at', direction: 'desc' as const }],
    columns: ['inputs', 'output', 'summary'],
    limit: limit + 1,
    offset,
  }
  const pages = await openPages(request, caller, options)
  return renderToolList({ field: 'calls', offset, limit }, renderCalls(pages, body_chars))
}

/** Returns the condition that one of the fields contains a text, which is escaped inside JSON. */
function searchCondition(text: string) {
  const escaped = JSON.stringify(text).slice(1, -1)
  const parts = new Set([text, escaped])
  const $or = SEARCHED_FIELDS.flatMap((field) =>
    [...parts].map((part) => ({
      $contains: {
        input: { $convert: { input: { $getField: field }, to: 'string' } },
        substr: { $literal: part },
        case_insensitive: true,
      },
    })),
  )
  return { $or }
}

/** @throws ApiError trace_not_found */
export async function readTrace(
  { project_id, trace_id, offset, body_chars }: z.infer<typeof ReadTraceArguments>,
  caller: ToolCaller,
  options: ReadOptions,
): Promise<string> {
  const limit = TRACE_CALLS_MAX
  const filter = { trace_ids: [trace_id] }
  const columns = ['attributes', 'inputs', 'output', 'summary']
  const request = { project_id, filter, columns, limit: limit + 1, offset }
  const pages = await openPages(request, caller, options)
  let count = 0
  async function* calls() {
    for await (const call of renderCalls(pages, body_chars)) {
      count += 1
      yield call
    }
  }
  const text = await renderToolList({ field: 'calls', offset, limit }, calls())
  if (count === 0 && offset === 0) throw new ApiError('trace_not_found', { param: 'trace_id' })
  return text
}

export async function openPages(
  request: CallsQueryRequest,
  { principal, reader }: ToolCaller,
  { callsQuery, prices, refScheme }: ReadOptions,
): Promise<ReturnType<CallsQueryStore['pages']>> {
  const reach = { refScheme, projects: principal.projects }
  const selection = await withPrices(resolveCallsSelection(request, reach), prices)
  return callsQuery.pages(selection, resolveCallsShape(request), reader)
}

async function* renderCalls(
  pages: ReturnType<CallsQueryStore['pages']>,
  bodyChars: number,
): AsyncGenerator<object> {
  for await (const page of pages) {
    for (const { call } of page) yield renderToolCall(call, bodyChars)
  }
}

/** @throws ApiError validation_failed when even the longest buckets have too much text */
export async function readStats(
  request: CallStatsRequest,
  reader: ReadCaller,
  options: ReadOptions,
): Promise<string> {
  const { chunks } = await renderCallStats(request, reader, options, VALUES_MAX)
  const text = Buffer.concat(chunks).toString()
  if (escapedBytes(text) <= TEXT_BYTES_MAX) return text
  const message = 'The statistics are too long; use a longer granularity or fewer metrics.'
  throw new ApiError('validation_failed', { param: 'granularity', message })
}

/** Lists the latest versions of the objects of a base class. */
export async function listOfKind(
  baseClass: 'Dataset' | 'Prompt',
  { project_id, limit, offset, body_chars }: ListObjectsArguments,
  reader: ReadCaller,
  { objects, refScheme }: ReadOptions,
): Promise<string> {
  const listing = {
    project_id,
    filter: { is_op: false, latest_only: true, base_object_classes: [baseClass] },
    sort_by: [{ field: 'created_at' as const, direction: 'desc' as const }],
    limit: limit + 1,
    offset,
    withContent: true,
    contentBytesMax: CONTENT_BYTES_MAX,
  }
  const found = await objects.listObjects(listing, reader)
  async function* items() {
    for (const { version, val_json } of found) {
      const { object_id, digest, version_index, created_at_us } = version
      const created_at = renderTimestamp(created_at_us)
      const ref = `${refScheme}:///${project_id}/object/${object_id}:${digest}`
      yield { object_id, version_index, created_at, ref, val: cutJson(val_json, body_chars) }
    }
  }
  return renderToolList({ field: `${baseClass.toLowerCase()}s`, offset, limit }, items())
}

/** @throws ApiError table_not_found */
export async function readRows(
  { project_id, rows, limit, offset, body_chars }: z.infer<typeof ReadRowsArguments>,
  { tables }: ReadOptions,
): Promise<string> {
  const digest = rows.slice(rows.lastIndexOf('/') + 1)
  const table = await tables.findTable(project_id, digest)
  if (table === null) throw new ApiError('table_not_found', { param: 'rows' })
  const count = Math.max(0, Math.min(limit + 1, table.row_count - offset))
  const indices = Array.from({ length: count }, (_, at) => offset + at)
  const groups = tables.readRows(table, indices)
  async function* items() {
    for await (const group of groups) {
      for (const { val_json, original_index: index } of group) {
        yield { index, val: cutJson(val_json, body_chars) }
      }
    }
  }
  return renderToolList({ field: 'rows', offset, limit }, items())
}
