/** Reads calls as rollouts, for all routes that train from traffic. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { requireAccess } from '../../domain/access/permissions.ts'
import { resolveCallsSelection, resolveCallsShape } from '../../domain/calls/calls-query.ts'
import { resolveGroupingPlan } from '../../domain/training/traffic/grouping-plan.ts'
import { createListingEdge } from '../../domain/training/traffic/listing-edge.ts'
import {
  type BuiltGroups,
  createGroupBuilder,
  createSourceLimit,
} from '../../domain/training/traffic/trajectory-groups.ts'
import { openReadCaller } from '../../http/stream/read-caller.ts'
import type { TrajectorySource } from '../../schemas/training/trajectory-from-calls.ts'
import type { Stores } from '../../store/api/stores.ts'
import { type FeedbackJoin, joinFeedback } from '../calls/call-feedback.ts'
import { withPrices } from '../calls/priced-selection.ts'

export type TrajectorySourceOptions = FeedbackJoin & Pick<Stores, 'callsQuery' | 'prices'>

interface SourceRequest {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** Whether what teaches nothing is left out. */
  readonly isTrainableOnly: boolean
}

const NEWEST_FIRST = [{ field: 'started_at', direction: 'desc' as const }]
const BODIES = ['attributes', 'inputs', 'output', 'summary']
const COLUMNS = [...BODIES, 'thread_id', 'turn_id', 'parent_id']
const NO_BODIES = ['thread_id']

/** @throws ApiError missing_api_key, scope_missing, project_forbidden, query_invalid, validation_failed for too long calls */
export async function readTrajectories(
  source: TrajectorySource,
  { request, reply, isTrainableOnly }: SourceRequest,
  { callsQuery, prices, ...join }: TrajectorySourceOptions,
): Promise<BuiltGroups> {
  const { project_id, filter, query, limit } = source
  requireAccess(request.principal, 'training', project_id)
  const { projects } = requireAccess(request.principal, 'traces:read', project_id)
  const plan = resolveGroupingPlan(source, isTrainableOnly)
  const listed = { project_id, filter, query, limit, sort_by: NEWEST_FIRST, columns: COLUMNS }
  const resolved = resolveCallsSelection(listed, { refScheme: join.refScheme, projects })
  const selection = await withPrices(resolved, prices)
  const caller = openReadCaller(request, reply, project_id)
  const builder = createGroupBuilder(plan)
  const countCall = createSourceLimit()
  const edge = createListingEdge(selection, plan.unit)
  const pages = callsQuery.pages(selection, resolveCallsShape(listed), caller)
  for await (const page of joinFeedback(pages, true, join, caller)) {
    for (const { call, feedback } of page) {
      countCall(call)
      edge.add(call)
      builder.add(call, feedback ?? [])
    }
  }
  const beyond = edge.beyond()
  if (beyond !== null) {
    const keys = resolveCallsShape({ project_id, columns: NO_BODIES })
    for await (const page of callsQuery.pages(beyond, keys, caller)) {
      if (edge.addBeyond(page.map(({ call }) => call))) break
    }
  }
  return builder.result(edge.cut())
}
