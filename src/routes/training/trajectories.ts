/** Builds trajectory groups (§2.12) from recorded calls. An addition to the spec. */

import { requireAccess } from '../../domain/access/permissions.ts'
import { resolveCallsSelection, resolveCallsShape } from '../../domain/calls/calls-query.ts'
import { createListingEdge } from '../../domain/training/listing-edge.ts'
import {
  createGroupBuilder,
  createSourceLimit,
  resolveGroupingPlan,
} from '../../domain/training/trajectory-groups.ts'
import type { App } from '../../http/app-type.ts'
import { openReadCaller } from '../../http/stream/read-caller.ts'
import {
  TrajectoriesFromCallsRequest,
  TrajectoriesFromCallsResponse,
} from '../../schemas/training/trajectory-from-calls.ts'
import type { Stores } from '../../store/api/stores.ts'
import { type FeedbackJoin, joinFeedback } from '../calls/call-feedback.ts'
import { withPrices } from '../calls/priced-selection.ts'

type TrajectoryRoutesOptions = FeedbackJoin & Pick<Stores, 'callsQuery' | 'prices'>

const NEWEST_FIRST = [{ field: 'started_at', direction: 'desc' as const }]
const COLUMNS = ['attributes', 'inputs', 'output', 'thread_id', 'turn_id', 'parent_id']
const NO_BODIES = ['thread_id']

export async function trajectoryRoutes(
  app: App,
  { callsQuery, prices, ...join }: TrajectoryRoutesOptions,
): Promise<void> {
  app.post(
    '/v1/preview/trajectory-groups/from-calls',
    {
      schema: {
        tags: ['preview'],
        operationId: 'createTrajectoryGroups',
        summary:
          'Build trajectory groups from recorded chats and their feedback (addition to the spec).',
        body: TrajectoriesFromCallsRequest,
        response: { 200: TrajectoriesFromCallsResponse },
      },
    },
    async (request, reply) => {
      const { project_id, filter, query, limit } = request.body
      requireAccess(request.principal, 'training', project_id)
      const { projects } = requireAccess(request.principal, 'traces:read', project_id)
      const plan = resolveGroupingPlan(request.body)
      const source = { project_id, filter, query, limit, sort_by: NEWEST_FIRST, columns: COLUMNS }
      const resolved = resolveCallsSelection(source, { refScheme: join.refScheme, projects })
      const selection = await withPrices(resolved, prices)
      const shape = resolveCallsShape(source)
      const caller = openReadCaller(request, reply, project_id)
      const builder = createGroupBuilder(plan)
      const countCall = createSourceLimit()
      const edge = createListingEdge(selection, plan.unit)
      const pages = callsQuery.pages(selection, shape, caller)
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
    },
  )
}
