/**
 * Renders the calls of a list as lines of JSON, with the costs, feedback and expanded refs that the request selects.
 */
import { canUseProject, type Principal } from '../../domain/access/permissions.ts'
import type { ReadCaller } from '../../domain/access/read-caller.ts'
import { parseSummary, renderCallLine } from '../../domain/calls/call-line.ts'
import type { CallTexts, TreeUsage } from '../../domain/calls/call-view.ts'
import {
  type CallsSelection,
  type CallsShape,
  pathsOfSelection,
  resolveCallsSelection,
  resolveCallsShape,
  showsSummary,
} from '../../domain/calls/calls-query.ts'
import { isTreePath } from '../../domain/calls/tree-fields.ts'
import { parseLossless } from '../../domain/json/json-text.ts'
import { renderCallCosts } from '../../domain/prices/cost.ts'
import type { PriceTable } from '../../domain/prices/price-table.ts'
import { layerPrices, type ProjectPrice } from '../../domain/prices/project-prices.ts'
import type { CallsQueryRequest } from '../../schemas/calls/calls-query.ts'
import type { JsonObject } from '../../schemas/primitives.ts'
import type { Stores } from '../../store/api/stores.ts'
import type { UsageStore } from '../../store/api/usage/usage.ts'
import { type CallWithFeedback, joinFeedback } from './call-feedback.ts'
import { createCallExpander, type ExpandCall } from './expand-values.ts'
import { withPrices } from './priced-selection.ts'
import { createFailuresReader, createTreeReader, type TreeReader } from './tree-usage.ts'

/** Sources of a list: prices for costs, feedback for `include_feedback`, objects and tables for `expand_columns`. */
export interface CallLinesOptions
  extends Pick<Stores, 'callsQuery' | 'prices' | 'feedback' | 'objects' | 'tables' | 'usage'> {
  /** Scheme of the refs by which feedback is found. */
  readonly refScheme: string
}

interface ListCaller {
  readonly principal: Principal
  readonly caller: ReadCaller
  /** Renames fields to the client's names. */
  readonly toWireNames: <T>(value: T) => T
}

/** Data of a line besides the call. */
interface LineContext {
  readonly treesOf: TreeReader
  readonly shape: CallsShape
  readonly prices: PriceTable | null
  readonly expand: ExpandCall
  readonly toWireNames: <T>(value: T) => T
}

/**
 * Yields texts of whole lines, one call per line.
 *
 * @throws ApiError query_invalid before any line; afterwards the errors of the stores
 */
export async function listCallLines(
  request: CallsQueryRequest,
  { principal, caller, toWireNames }: ListCaller,
  options: CallLinesOptions,
): Promise<AsyncIterable<string>> {
  const { callsQuery, prices, refScheme } = options
  const { project_id } = request
  const resolved = resolveCallsSelection(request, { refScheme, projects: principal.projects })
  const selection = await withPrices(resolved, prices)
  const shape = resolveCallsShape(request)
  const own = shape.withCosts || shape.withTreeUsage ? await prices.listPrices(project_id) : null
  const context = {
    shape,
    prices: shape.withCosts ? layerPrices(own ?? []) : null,
    expand: createCallExpander(selection.expanded, shape, {
      objects: options.objects,
      tables: options.tables,
      canRead: (projectId) => canUseProject(principal, projectId),
    }),
    toWireNames,
  }
  const found = callsQuery.pages(selection, shape, caller)
  const treesOf = openTrees(options.usage, selection, shape, own, caller)
  const pages = joinFeedback(found, shape.withFeedback, options, caller)
  return renderPages(pages, { ...context, treesOf })
}

/** The states of calls that a selection is by are shown as it reads them. */
function openTrees(
  usage: UsageStore,
  selection: CallsSelection,
  shape: CallsShape,
  prices: readonly ProjectPrice[] | null,
  caller: ReadCaller,
): TreeReader {
  const { project_id } = selection
  if (shape.withTreeUsage) return createTreeReader(usage, { project_id, prices }, caller)
  const isByTree = pathsOfSelection(selection).some(isTreePath)
  if (isByTree && showsSummary(shape)) return createFailuresReader(usage, { project_id }, caller)
  return async () => new Map()
}

async function* renderPages(
  pages: AsyncIterable<readonly CallWithFeedback[]>,
  context: LineContext,
): AsyncGenerator<string> {
  for await (const page of pages) {
    const trees = await context.treesOf(page.map(({ call }) => call))
    if (!context.shape.withExpandedValues) {
      yield page.map((listed) => `${renderListed(listed, trees, context)}\n`).join('')
      continue
    }
    for (const listed of page) {
      const call = await context.expand(listed.call)
      yield `${renderListed({ ...listed, call }, trees, context)}\n`
    }
  }
}

function renderListed(
  { call, totalStorageSizeBytes, feedback, unread = [] }: CallWithFeedback,
  trees: ReadonlyMap<string, TreeUsage>,
  { shape, prices, toWireNames }: LineContext,
): string {
  const summary = parseSummary(call)
  return renderCallLine(call, summary, {
    costs: prices === null ? null : renderCallCosts(toPriced(call, summary), prices),
    tree: trees.get(call.id) ?? null,
    feedback: feedback === null ? null : feedback.map((text) => parseLossless(text)),
    // Attributes are also read for costs.
    unread: unread.filter((body) => shape.columns?.has(body) ?? true),
    includeStorageSize: shape.withStorageSize,
    totalStorageSizeBytes,
    shape,
    toWireNames,
  })
}

/** Returns the input of the rendering of costs. The store reads attributes only for lists with costs. */
function toPriced({ started_at_us, attributes_json }: CallTexts, summary: JsonObject) {
  return { started_at_us, summary, attributes: JSON.parse(attributes_json ?? '{}') }
}
