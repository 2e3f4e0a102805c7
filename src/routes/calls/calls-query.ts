/** Lists of calls: streamed, or counted. Additions to the spec. */
import { canUseProject, requireAccess } from '../../domain/access/permissions.ts'
import { parseSummary, renderCallLine } from '../../domain/calls/call-line.ts'
import {
  type CallsShape,
  resolveCallsSelection,
  resolveCallsShape,
} from '../../domain/calls/calls-query.ts'
import { parseLossless } from '../../domain/json/json-text.ts'
import { renderCallCosts } from '../../domain/prices/cost.ts'
import type { PriceTable } from '../../domain/prices/price-table.ts'
import { layerPrices } from '../../domain/prices/project-prices.ts'
import type { App } from '../../http/app-type.ts'
import { linesAnswer } from '../../http/document/answers.ts'
import { sendJsonLines } from '../../http/stream/json-lines.ts'
import { openReadCaller } from '../../http/stream/read-caller.ts'
import { CallSchema } from '../../schemas/calls/call.ts'
import {
  CallsQueryRequest,
  CallsQueryStatsRequest,
  CallsQueryStatsResponse,
} from '../../schemas/calls/calls-query.ts'
import type { CallsQueryStore } from '../../store/api/calls/calls-query.ts'
import type { FeedbackStore } from '../../store/api/feedback/feedback.ts'
import type { ObjectStore } from '../../store/api/objects/objects.ts'
import type { TableStore } from '../../store/api/objects/tables.ts'
import type { PriceStore } from '../../store/api/prices/prices.ts'
import { type CallWithFeedback, joinFeedback } from './call-feedback.ts'
import { createCallExpander, type ExpandCall } from './expand-values.ts'
import { withPrices } from './priced-selection.ts'

interface CallsQueryRoutesOptions {
  readonly callsQuery: CallsQueryStore
  /** For `include_costs`, and for conditions and orders by cost. */
  readonly prices: PriceStore
  /** For `include_feedback`. */
  readonly feedback: FeedbackStore
  /** For `expand_columns`. */
  readonly objects: ObjectStore
  readonly tables: TableStore
  /** Scheme of the refs under which feedback is looked for. */
  readonly refScheme: string
}

export async function callsQueryRoutes(app: App, options: CallsQueryRoutesOptions): Promise<void> {
  addStreamQuery(app, options)
  addQueryStats(app, options)
}

/** What a line needs beside the call. */
interface LineContext {
  readonly shape: CallsShape
  readonly prices: PriceTable | null
  readonly expand: ExpandCall
  readonly spellOut: <T>(value: T) => T
}

function addStreamQuery(app: App, options: CallsQueryRoutesOptions): void {
  const { callsQuery, prices, refScheme } = options
  app.post(
    '/calls/stream_query',
    {
      schema: {
        tags: ['calls'],
        operationId: 'streamCalls',
        summary: 'List calls, one JSON object a line, streamed (addition to the spec).',
        body: CallsQueryRequest,
        response: { 200: linesAnswer('A call a line.', CallSchema) },
      },
    },
    async (request, reply) => {
      const { project_id } = request.body
      const principal = requireAccess(request.principal, 'traces:read', project_id)
      const { projects } = principal
      const resolved = resolveCallsSelection(request.body, { refScheme, projects })
      const selection = await withPrices(resolved, prices)
      const shape = resolveCallsShape(request.body)
      const caller = openReadCaller(request, reply, project_id)
      const context: LineContext = {
        shape,
        prices: shape.withCosts ? layerPrices(await prices.listPrices(project_id)) : null,
        expand: createCallExpander(selection.expanded, shape, {
          ...{ objects: options.objects, tables: options.tables },
          canRead: (projectId) => canUseProject(principal, projectId),
        }),
        spellOut: app.spelling.spellOut,
      }
      const found = callsQuery.pages(selection, shape, caller)
      const pages = joinFeedback(found, shape.withFeedback, options, caller)
      return sendJsonLines(reply, renderPages(pages, context))
    },
  )
}

async function* renderPages(
  pages: AsyncIterable<readonly CallWithFeedback[]>,
  context: LineContext,
): AsyncGenerator<string> {
  for await (const page of pages) {
    if (!context.shape.withExpandedValues) {
      yield page.map((listed) => `${renderListed(listed, context)}\n`).join('')
      continue
    }
    for (const listed of page) {
      const call = await context.expand(listed.call)
      yield `${renderListed({ ...listed, call }, context)}\n`
    }
  }
}

function renderListed(
  { call, totalStorageSizeBytes, feedback }: CallWithFeedback,
  { shape, prices, spellOut }: LineContext,
): string {
  const summary = parseSummary(call)
  return renderCallLine(call, summary, {
    costs: prices === null ? null : renderCallCosts(summary, call.started_at_us, prices),
    feedback: feedback === null ? null : feedback.map((text) => parseLossless(text)),
    includeStorageSize: shape.withStorageSize,
    totalStorageSizeBytes,
    shape,
    spellOut,
  })
}

function addQueryStats(app: App, options: CallsQueryRoutesOptions): void {
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
