/** Conversations as the sessions that Langfuse's SDKs read. Additions to the spec. */
import type { ReadCaller } from '../../domain/access/read-caller.ts'
import { callsCondition } from '../../domain/langfuse/call-conditions.ts'
import { contextOf, DEFAULT_ENVIRONMENT } from '../../domain/langfuse/observations.ts'
import { cutPage } from '../../domain/langfuse/pages.ts'
import { renderTrace } from '../../domain/langfuse/traces.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { requireLangfuseCaller } from '../../http/langfuse-scope.ts'
import { SessionPath, SessionsQuery } from '../../schemas/langfuse/observation.ts'
import { renderTimestamp } from '../../schemas/timestamp.ts'
import type { Stores } from '../../store/api/stores.ts'
import { createCallLists, NEWEST_FIRST } from './call-lists.ts'

export type SessionOptions = Pick<Stores, 'calls' | 'callsQuery' | 'prices'>

/** Limit: calls, the newest, among which sessions are found. */
const CALLS_MAX = 100_000
/** Limit: traces of one session. */
const TRACES_MAX = 1000

export async function sessionRoutes(app: App, options: SessionOptions): Promise<void> {
  addList(app, options)
  addRead(app, options)
}

/** The first call of a session that is known. */
interface Session {
  readonly id: string
  readonly call_id: string
  readonly started_at_us: number
}

/** The newest first, by their first call. */
function addList(app: App, options: SessionOptions): void {
  app.get('/sessions', { schema: { querystring: SessionsQuery } }, async (request, reply) => {
    const { reader } = requireLangfuseCaller(request, reply, 'traces:read')
    const { page, limit, ...asked } = request.query
    const sessions = await findSessions(options, reader, asked)
    const { data, meta } = cutPage(sessions, { page, limit })
    const shown = []
    for (const session of data) shown.push(await renderSession(options, reader, session))
    return { data: shown, meta }
  })
}

async function findSessions(
  options: SessionOptions,
  reader: ReadCaller,
  asked: Parameters<typeof callsCondition>[0],
): Promise<Session[]> {
  const { query } = callsCondition(asked, 'observation')
  const isInSession = { $not: [{ $eq: [{ $getField: 'thread_id' }, { $literal: null }] }] }
  const condition = {
    filter: {},
    query: { $expr: { $and: [isInSession, ...(query === null ? [] : [query.$expr])] } },
  }
  const part = { columns: ['thread_id'], sort_by: NEWEST_FIRST, limit: CALLS_MAX, offset: 0 }
  const first = new Map<string, Session>()
  for await (const call of createCallLists(options, reader).scan(condition, part)) {
    const { id: call_id, thread_id: id, started_at_us } = call
    if (id !== null) first.set(id, { id, call_id, started_at_us })
  }
  return [...first.values()].sort((a, b) => b.started_at_us - a.started_at_us)
}

async function renderSession(
  { calls }: SessionOptions,
  { project_id }: ReadCaller,
  { id, call_id, started_at_us }: Session,
) {
  const call = await calls.findCall(project_id, call_id)
  const environment = call === null ? DEFAULT_ENVIRONMENT : contextOf(call).environment
  return { id, createdAt: renderTimestamp(started_at_us), projectId: project_id, environment }
}

function addRead(app: App, options: SessionOptions): void {
  const schema = { params: SessionPath }
  app.get('/sessions/:sessionId', { schema }, async (request, reply) => {
    const { reader } = requireLangfuseCaller(request, reply, 'traces:read')
    const { sessionId: id } = request.params
    const lists = createCallLists(options, reader)
    const trace_ids = await traceIdsOf(options, reader, id)
    const condition = { filter: { trace_ids, trace_roots_only: true }, query: null }
    const columns = ['attributes', 'inputs', 'output'] as const
    const part = { columns, sort_by: [], limit: TRACES_MAX, offset: 0 }
    const listed = (await lists.wholeList(condition, part, 'sessionId')).map(({ call }) => call)
    const byTrace = Map.groupBy(listed, ({ trace_id }) => trace_id)
    const roots = [...byTrace.values()].flatMap(([oldest]) => oldest ?? [])
    const [first] = roots
    if (first === undefined) throw sessionNotFound(id)
    const { id: call_id, started_at_us } = first
    const session = await renderSession(options, reader, { id, call_id, started_at_us })
    return { ...session, traces: roots.map((root) => renderTrace(root, true)) }
  })
}

/** The first traces of a session. @throws ApiError call_not_found when there is none */
async function traceIdsOf(options: SessionOptions, reader: ReadCaller, id: string) {
  const condition = { filter: { thread_ids: [id] }, query: null }
  const part = { columns: ['thread_id'], sort_by: [], limit: CALLS_MAX, offset: 0 }
  const ids = new Set<string>()
  for await (const { trace_id } of createCallLists(options, reader).scan(condition, part)) {
    ids.add(trace_id)
    if (ids.size === TRACES_MAX) break
  }
  if (ids.size === 0) throw sessionNotFound(id)
  return [...ids]
}

function sessionNotFound(id: string): ApiError {
  const message = `There is no session ${JSON.stringify(id)}.`
  return new ApiError('call_not_found', { param: 'sessionId', message })
}
