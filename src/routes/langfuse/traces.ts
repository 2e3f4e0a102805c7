/** Traces as Langfuse's SDKs list, read and delete them. Additions to the spec. */
import type { FastifyRequest } from 'fastify'
import { type ReadCaller, requireWaiting } from '../../domain/access/read-caller.ts'
import type { StoredCall } from '../../domain/calls/call-view.ts'
import {
  type CallsCondition,
  callsCondition,
  FIELDS,
} from '../../domain/langfuse/call-conditions.ts'
import { type PricedObservation, renderObservation } from '../../domain/langfuse/observations.ts'
import { renderPage } from '../../domain/langfuse/pages.ts'
import { renderScoreV2, type ScoreRow } from '../../domain/langfuse/scores.ts'
import {
  NO_METRICS,
  renderTrace,
  TRACE_GROUPS,
  type TraceGroup,
  traceMetrics,
} from '../../domain/langfuse/traces.ts'
import type { Clock } from '../../domain/time/clock.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { requireLangfuseCaller } from '../../http/langfuse-scope.ts'
import {
  TracePath,
  TraceQuery,
  TracesDeleteBody,
  TracesQuery,
} from '../../schemas/langfuse/observation.ts'
import type { Stores } from '../../store/api/stores.ts'
import { recordBefore } from '../access/audit.ts'
import { type CallDeleter, deleteWithTags } from '../calls/call-tags.ts'
import { type CallLists, createCallLists, NEWEST_FIRST } from './call-lists.ts'
import { listScores, type ScoreOptions } from './scores.ts'

export interface TraceOptions
  extends Pick<Stores, 'callsQuery' | 'prices'>,
    CallDeleter,
    Pick<Clock, 'nowUs'>,
    ScoreOptions {}

/** Limits: calls and scores of the traces of one response. */
const CALLS_MAX = 10_000
const SCORES_MAX = 10_000
/** Limit: calls that one step of a deletion names. */
const DELETED_MAX = 1000

export async function traceRoutes(app: App, options: TraceOptions): Promise<void> {
  addList(app, options)
  addRead(app, options)
  addDelete(app, options)
}

/** A page has a number of roots. A trace with several is shown where the oldest of them is; totalItems counts each. */
function addList(app: App, options: TraceOptions): void {
  app.get('/traces', { schema: { querystring: TracesQuery } }, async (request, reply) => {
    const { reader } = requireLangfuseCaller(request, reply, 'traces:read')
    const { page, limit, fields, orderBy, ...asked } = request.query
    const groups = readGroups(fields)
    const lists = createCallLists(options, reader)
    const condition = callsCondition(asked, 'trace')
    const columns = groups.has('io') ? ['attributes', 'inputs', 'output'] : ['attributes']
    const part = { columns, sort_by: readOrder(orderBy), limit, offset: (page - 1) * limit }
    const listed = (await lists.wholeList(condition, part, 'limit')).map(({ call }) => call)
    const roots = await withoutLaterRoots(listed, condition, lists)
    const trace_ids = roots.map(({ trace_id }) => trace_id)
    const around = await readAround(trace_ids, groups, { lists, reader, options })
    const data = roots.map((root) => showListed(root, groups, around))
    return renderPage(data, await lists.count(condition), { page, limit })
  })
}

/** Leaves out the roots of traces that have an older one, which is on this page or another. */
async function withoutLaterRoots(
  roots: readonly StoredCall[],
  condition: CallsCondition,
  lists: CallLists,
): Promise<readonly StoredCall[]> {
  if (roots.length === 0) return roots
  const trace_ids = [...new Set(roots.map(({ trace_id }) => trace_id))]
  const ofTraces = { ...condition, filter: { ...condition.filter, trace_ids } }
  const part = { columns: [], sort_by: [], limit: CALLS_MAX, offset: 0 }
  const oldest = new Map<string, string>()
  for await (const { id, trace_id } of lists.scan(ofTraces, part)) {
    if (!oldest.has(trace_id)) oldest.set(trace_id, id)
  }
  // A trace beyond the limit may be shown twice; it is never left out.
  return roots.filter(({ id, trace_id }) => (oldest.get(trace_id) ?? id) === id)
}

/** @throws ApiError unsupported_value */
function readGroups(fields: readonly string[] | undefined): ReadonlySet<TraceGroup> {
  const wanted = fields ?? TRACE_GROUPS
  const unknown = wanted.find((name) => name !== 'core' && !isGroup(name))
  if (unknown === undefined) return new Set(wanted.filter(isGroup))
  const message = `There is no group of fields ${JSON.stringify(unknown)}: there are core, ${TRACE_GROUPS.join(', ')}.`
  throw new ApiError('unsupported_value', { param: 'fields', message })
}

function isGroup(name: string): name is TraceGroup {
  return TRACE_GROUPS.some((group) => group === name)
}

/** @throws ApiError unsupported_value for another order than by a field of calls */
function readOrder(orderBy: string | undefined) {
  if (orderBy === undefined) return NEWEST_FIRST
  const [column = '', direction = 'asc'] = orderBy.split('.')
  const field = FIELDS.trace[column]
  if (field !== undefined && (direction === 'asc' || direction === 'desc')) {
    return [{ field, direction: direction as 'asc' | 'desc' }]
  }
  const columns = Object.keys(FIELDS.trace).join(', ')
  const message = `orderBy must be one of ${columns}, with .asc or .desc behind it.`
  throw new ApiError('unsupported_value', { param: 'orderBy', message })
}

/** What is known of traces besides their roots, by trace. */
interface Around {
  readonly calls: ReadonlyMap<string, readonly PricedObservation[]>
  readonly scores: ReadonlyMap<string, readonly ScoreRow[]>
}

async function readAround(
  trace_ids: readonly string[],
  groups: ReadonlySet<TraceGroup>,
  {
    lists,
    reader,
    options,
  }: { readonly lists: CallLists; readonly reader: ReadCaller; readonly options: TraceOptions },
): Promise<Around> {
  const isEmpty = trace_ids.length === 0
  const withCalls = !isEmpty && (groups.has('observations') || groups.has('metrics'))
  const columns = groups.has('metrics') ? ['attributes', 'summary'] : []
  const condition = { filter: { trace_ids: [...trace_ids] }, query: null }
  const part = { columns, sort_by: [], limit: CALLS_MAX + 1, offset: 0 }
  const calls = withCalls ? await lists.wholeList(condition, part, 'limit') : []
  if (calls.length > CALLS_MAX) throw tooMany('observations', CALLS_MAX)
  const withScores = !isEmpty && groups.has('scores')
  const scores = withScores ? await readScores(options, reader, trace_ids) : []
  return {
    calls: Map.groupBy(calls, ({ call }) => call.trace_id),
    scores: Map.groupBy(scores, (row) => renderScoreV2(row).traceId ?? ''),
  }
}

/** @throws ApiError validation_failed when there are too many */
async function readScores(options: TraceOptions, reader: ReadCaller, ids: readonly string[]) {
  const part = { limit: SCORES_MAX + 1, offset: 0 }
  const scores = await listScores(options, reader, { traceId: [...ids] }, part)
  if (scores.length > SCORES_MAX) throw tooMany('scores', SCORES_MAX)
  return scores
}

function tooMany(what: string, max: number): ApiError {
  const message = `The traces have more than ${max} ${what}: ask for fewer traces, or leave ${what} and metrics out of fields.`
  return new ApiError('validation_failed', { param: 'fields', message })
}

function showListed(root: StoredCall, groups: ReadonlySet<TraceGroup>, around: Around) {
  const calls = around.calls.get(root.trace_id) ?? []
  const scores = around.scores.get(root.trace_id) ?? []
  return {
    ...renderTrace(root, groups.has('io')),
    ...(groups.has('metrics') ? traceMetrics(calls) : NO_METRICS),
    observations: groups.has('observations') ? calls.map(({ call }) => call.id) : [],
    scores: scores.map(({ id }) => id),
  }
}

function addRead(app: App, options: TraceOptions): void {
  const schema = { params: TracePath, querystring: TraceQuery }
  app.get('/traces/:traceId', { schema }, async (request, reply) => {
    const { reader } = requireLangfuseCaller(request, reply, 'traces:read')
    const { traceId } = request.params
    const groups = readGroups(request.query.fields)
    const lists = createCallLists(options, reader)
    const condition = { filter: { trace_ids: [traceId] }, query: null }
    const columns = ['attributes', 'inputs', 'output', 'summary']
    const part = { columns, sort_by: [], limit: CALLS_MAX + 1, offset: 0 }
    const calls = await lists.wholeList(condition, part, 'traceId')
    if (calls.length > CALLS_MAX) throw tooMany('observations', CALLS_MAX)
    const root = rootOf(calls)
    if (root === null) throw new ApiError('trace_not_found', { param: 'traceId' })
    const scores = groups.has('scores') ? await readScores(options, reader, [traceId]) : []
    return {
      ...renderTrace(root, groups.has('io')),
      ...(groups.has('metrics') ? traceMetrics(calls) : NO_METRICS),
      observations: groups.has('observations') ? calls.map(renderObservation) : [],
      scores: scores.map(renderScoreV2),
    }
  })
}

/** The call without a parent among those of its trace; the first where each has one. */
function rootOf(calls: readonly PricedObservation[]): StoredCall | null {
  const ids = new Set(calls.map(({ call }) => call.id))
  const root = calls.find(({ call }) => call.parent_id === null || !ids.has(call.parent_id))
  return (root ?? calls[0])?.call ?? null
}

function addDelete(app: App, options: TraceOptions): void {
  app.delete('/traces/:traceId', { schema: { params: TracePath } }, async (request, reply) => {
    const { reader } = requireLangfuseCaller(request, reply, 'traces:write')
    await deleteTraces(request, reader, [request.params.traceId], options)
    return { message: 'Trace deleted' }
  })
  app.delete('/traces', { schema: { body: TracesDeleteBody } }, async (request, reply) => {
    const { reader } = requireLangfuseCaller(request, reply, 'traces:write')
    await deleteTraces(request, reader, request.body.traceIds, options)
    return { message: 'Traces deleted' }
  })
}

/** Deletes the calls that traces have when it begins, with everything below them, and their tags. */
async function deleteTraces(
  request: FastifyRequest,
  reader: ReadCaller,
  trace_ids: string[],
  options: TraceOptions,
): Promise<void> {
  const { project_id, signal } = reader
  const before = { trace_ids }
  await recordBefore(options.audit, request, { action: 'calls.delete', project_id, before })
  const condition = { filter: { trace_ids }, query: null }
  const part = { columns: [], sort_by: [], limit: Number.POSITIVE_INFINITY, offset: 0 }
  let ids: string[] = []
  const deleteFound = async () => {
    requireWaiting(signal)
    await deleteWithTags(options, { project_id, ids, deleted_at_us: options.nowUs() })
    ids = []
  }
  for await (const { id } of createCallLists(options, reader).scan(condition, part)) {
    ids.push(id)
    if (ids.length === DELETED_MAX) await deleteFound()
  }
  if (ids.length > 0) await deleteFound()
}
