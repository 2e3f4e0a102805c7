/** Lists of calls: streamed, or counted. Additions to the spec. */
import { requireAccess } from '../../domain/access/permissions.ts'
import { resolveCallsSelection } from '../../domain/calls/calls-query.ts'
import type { App } from '../../http/app-type.ts'
import { linesResponse } from '../../http/document/responses.ts'
import { sendLines } from '../../http/stream/json-lines.ts'
import { openReadCaller } from '../../http/stream/read-caller.ts'
import { CallSchema } from '../../schemas/calls/call.ts'
import {
  CallsQueryRequest,
  CallsQueryStatsRequest,
  CallsQueryStatsResponse,
} from '../../schemas/calls/calls-query.ts'
import { type CallLinesOptions, listCallLines } from './call-lines.ts'
import { withPrices } from './priced-selection.ts'

export async function callsQueryRoutes(app: App, options: CallLinesOptions): Promise<void> {
  addStreamQuery(app, options)
  addQueryStats(app, options)
}

function addStreamQuery(app: App, options: CallLinesOptions): void {
  app.post(
    '/calls/stream_query',
    {
      schema: {
        tags: ['calls'],
        operationId: 'streamCalls',
        summary: 'List calls as a stream, one JSON object per line (addition to the spec).',
        body: CallsQueryRequest,
        response: { 200: linesResponse('A call a line.', CallSchema) },
      },
    },
    async (request, reply) => {
      const { project_id } = request.body
      const principal = requireAccess(request.principal, 'traces:read', project_id)
      const caller = openReadCaller(request, reply, project_id)
      const { toWireNames } = app.naming
      const lines = await listCallLines(request.body, { principal, caller, toWireNames }, options)
      return sendLines(reply, lines)
    },
  )
}

function addQueryStats(app: App, options: CallLinesOptions): void {
  const { callsQuery, prices, refScheme } = options
  app.post(
    '/calls/query_stats',
    {
      schema: {
        tags: ['calls'],
        operationId: 'countCalls',
        summary: 'Count calls (addition to the spec).',
        body: CallsQueryStatsRequest,
        response: { 200: CallsQueryStatsResponse },
      },
    },
    async (request, reply) => {
      const { project_id, include_total_storage_size } = request.body
      const { projects } = requireAccess(request.principal, 'traces:read', project_id)
      const resolved = resolveCallsSelection(request.body, { refScheme, projects })
      const selection = await withPrices(resolved, prices)
      const caller = openReadCaller(request, reply, project_id)
      const { limit } = selection
      const found = await callsQuery.count({ ...selection, limit: limit + 1 }, caller)
      const hasMore = found.count > limit
      const counted =
        hasMore && include_total_storage_size ? await callsQuery.count(selection, caller) : found
      return {
        count: Math.min(counted.count, limit),
        has_more: hasMore,
        total_storage_size_bytes: include_total_storage_size ? counted.storage_size_bytes : null,
      }
    },
  )
}
