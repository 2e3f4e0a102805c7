/** Calls as the observations that Langfuse's SDKs read. Additions to the spec. */
import { callsCondition } from '../../domain/langfuse/call-conditions.ts'
import {
  FIELD_GROUPS,
  type FieldGroup,
  type PricedObservation,
  renderObservation,
  renderObservationV2,
} from '../../domain/langfuse/observations.ts'
import { parseCursor, renderCursor, renderPage } from '../../domain/langfuse/pages.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { requireLangfuseCaller } from '../../http/langfuse-scope.ts'
import {
  ObservationPath,
  ObservationsCursorQuery,
  ObservationsPageQuery,
} from '../../schemas/langfuse/observation.ts'
import type { Stores } from '../../store/api/stores.ts'
import { createCallLists, NEWEST_FIRST } from './call-lists.ts'

export type ObservationOptions = Pick<Stores, 'callsQuery' | 'prices'>

const EVERYTHING = ['attributes', 'inputs', 'output', 'summary'] as const
const DEFAULT_GROUPS: readonly FieldGroup[] = ['basic']

export async function observationRoutes(app: App, options: ObservationOptions): Promise<void> {
  addCursorList(app, options)
  addPagedList(app, options)
  addRead(app, options)
}

/** The newest first. A page ends early where bodies are large, and goes on behind the start of its last call. */
function addCursorList(app: App, options: ObservationOptions): void {
  const schema = { querystring: ObservationsCursorQuery }
  app.get('/v2/observations', { schema }, async (request, reply) => {
    const { reader } = requireLangfuseCaller(request, reply, 'traces:read')
    const { cursor, limit, fields, ...asked } = request.query
    const groups = readGroups(fields)
    const from = cursor === undefined ? null : parseCursor(cursor, 0)
    const condition = callsCondition(asked, 'observation', from?.before_us ?? null)
    const columns = columnsOf(groups)
    const offset = from?.offset ?? 0
    const part = { columns, sort_by: NEWEST_FIRST, limit: limit + 1, offset }
    const { calls, isCut } = await createCallLists(options, reader).cutList(condition, part)
    const shown = calls.slice(0, limit)
    const next = isCut || calls.length > limit ? cursorBehind(shown, from) : null
    const data = shown.map((priced) => renderObservationV2(priced, groups))
    return { data, meta: { limit, cursor: next } }
  })
}

/** @throws ApiError unsupported_value */
function readGroups(fields: readonly string[] | undefined): readonly FieldGroup[] {
  if (fields === undefined) return DEFAULT_GROUPS
  const known = Object.keys(FIELD_GROUPS)
  const unknown = fields.find((name) => name !== 'core' && !known.includes(name))
  if (unknown !== undefined) {
    const message = `There is no group of fields ${JSON.stringify(unknown)}: there are core, ${known.join(', ')}.`
    throw new ApiError('unsupported_value', { param: 'fields', message })
  }
  return known.filter((name) => fields.includes(name)) as FieldGroup[]
}

/** Columns that groups of fields are made of; the model of a generation may be among its inputs alone. */
function columnsOf(groups: readonly FieldGroup[]): readonly string[] {
  if (groups.includes('io')) return EVERYTHING
  return ['attributes', 'summary', ...(groups.includes('model') ? ['inputs'] : [])]
}

/** Where the list goes on: at the start of its last call, behind those that began in the same microsecond. */
function cursorBehind(
  shown: readonly PricedObservation[],
  from: { readonly before_us: number; readonly offset: number } | null,
): string | null {
  const before_us = shown.at(-1)?.call.started_at_us
  if (before_us === undefined) return null
  const together = shown.filter(({ call }) => call.started_at_us === before_us).length
  const earlier = from?.before_us === before_us ? from.offset : 0
  return renderCursor({ before_us, offset: together + earlier })
}

function addPagedList(app: App, options: ObservationOptions): void {
  const schema = { querystring: ObservationsPageQuery }
  app.get('/observations', { schema }, async (request, reply) => {
    const { reader } = requireLangfuseCaller(request, reply, 'traces:read')
    const { page, limit, ...asked } = request.query
    const lists = createCallLists(options, reader)
    const condition = callsCondition(asked, 'observation')
    const offset = (page - 1) * limit
    const part = { columns: EVERYTHING, sort_by: NEWEST_FIRST, limit, offset }
    const calls = await lists.wholeList(condition, part, 'limit')
    return renderPage(calls.map(renderObservation), await lists.count(condition), { page, limit })
  })
}

function addRead(app: App, options: ObservationOptions): void {
  const schema = { params: ObservationPath }
  app.get('/observations/:observationId', { schema }, async (request, reply) => {
    const { reader } = requireLangfuseCaller(request, reply, 'traces:read')
    const { observationId } = request.params
    const condition = { filter: { call_ids: [observationId] }, query: null }
    const part = { columns: EVERYTHING, sort_by: NEWEST_FIRST, limit: 1, offset: 0 }
    const { calls } = await createCallLists(options, reader).cutList(condition, part)
    const [found] = calls
    if (found === undefined) throw new ApiError('call_not_found', { param: 'observationId' })
    return renderObservation(found)
  })
}
