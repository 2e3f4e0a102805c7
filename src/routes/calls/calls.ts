/** Call tracing routes. Spec: §4.5, §4.6; `/call/end` is an addition. */

import { requireAccess } from '../../domain/access/permissions.ts'
import { renderCall } from '../../domain/calls/call-view.ts'
import { renderCallCosts } from '../../domain/prices/cost.ts'
import { layerPrices } from '../../domain/prices/project-prices.ts'
import type { Clock } from '../../domain/time/clock.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { addProjectWrite } from '../../http/project-routes.ts'
import { openReadCaller } from '../../http/stream/read-caller.ts'
import {
  CallEndRequest,
  CallReadRequest,
  CallReadResponse,
  CallStartRequest,
  CallStartResponse,
  LooseCallReadResponse,
} from '../../schemas/calls/call.ts'
import {
  CallsDeleteRequest,
  CallsDeleteResponse,
  CallUpdateRequest,
} from '../../schemas/calls/call-batch.ts'
import { EmptyResponse } from '../../schemas/primitives.ts'
import type { Stores } from '../../store/api/stores.ts'
import type { LargeBodies } from '../bodies/large-bodies.ts'
import { type CallDeleter, deleteTaggedCalls } from './call-tags.ts'
import { createTreeReader } from './tree-usage.ts'

interface CallRoutesOptions
  extends CallDeleter,
    Pick<Stores, 'prices' | 'usage'>,
    Pick<Clock, 'nowUs'> {
  readonly bodies: LargeBodies
}

const config = { body: 'bytes' } as const

export async function callRoutes(app: App, options: CallRoutesOptions): Promise<void> {
  addCallStart(app, options)
  addCallEnd(app, options)
  addCallRead(app, options)
  addCallUpdate(app, options)
  addCallsDelete(app, options)
}

function addCallStart(app: App, { calls, bodies }: CallRoutesOptions): void {
  app.post(
    '/call/start',
    {
      config,
      schema: {
        tags: ['calls'],
        operationId: 'startCall',
        summary: 'Record the start of a call; answered after the durable commit.',
        body: CallStartRequest,
        response: { 200: CallStartResponse },
      },
    },
    async (request) => calls.startCall(await bodies.prepare(app, request, 'start')),
  )
}

function addCallEnd(app: App, { calls, bodies }: CallRoutesOptions): void {
  app.post(
    '/call/end',
    {
      config,
      schema: {
        tags: ['calls'],
        operationId: 'endCall',
        summary: 'Record the end of a call, before or after its start (addition to the spec).',
        body: CallEndRequest,
        response: { 200: EmptyResponse },
      },
    },
    async (request) => {
      await calls.endCall(await bodies.prepare(app, request, 'end'))
      return {}
    },
  )
}

function addCallRead(app: App, { calls, prices, usage }: CallRoutesOptions): void {
  app.post(
    '/call/read',
    {
      schema: {
        tags: ['calls'],
        operationId: 'readCall',
        summary: 'Read one call.',
        body: CallReadRequest,
        response: { 200: app.naming.isStrict ? CallReadResponse : LooseCallReadResponse },
      },
    },
    async (request, reply) => {
      const { project_id, id, ...include } = request.body
      requireAccess(request.principal, 'traces:read', project_id)
      const call = await calls.findCall(project_id, id)
      if (call === null) {
        // The vendor's clients read the body, not the status.
        if (!app.naming.isStrict) return { call: null }
        throw new ApiError('call_not_found', { param: 'id' })
      }
      const { include_costs, include_tree_usage } = include
      const own = include_costs || include_tree_usage ? await prices.listPrices(project_id) : []
      const readTrees =
        include_tree_usage &&
        createTreeReader(
          usage,
          { project_id, prices: own },
          openReadCaller(request, reply, project_id),
        )
      const trees = readTrees ? await readTrees([call]) : null
      return {
        call: renderCall(call, {
          costs: include_costs ? renderCallCosts(call, layerPrices(own)) : null,
          tree: trees?.get(id) ?? null,
          includeStorageSize: include.include_storage_size ?? false,
          totalStorageSizeBytes: include.include_total_storage_size
            ? await calls.sumTraceSizeBytes(project_id, call.trace_id)
            : null,
        }),
      }
    },
  )
}

function addCallUpdate(app: App, { calls }: CallRoutesOptions): void {
  addProjectWrite(
    app,
    '/call/update',
    {
      tags: ['calls'],
      operationId: 'updateCall',
      summary: 'Name a call, before or after its start (addition to the spec).',
      body: CallUpdateRequest,
      response: EmptyResponse,
    },
    async ({ project_id, call_id, display_name }) => {
      await calls.renameCall({ project_id, id: call_id, display_name: display_name || null })
      return {}
    },
  )
}

function addCallsDelete(app: App, options: CallRoutesOptions): void {
  const { nowUs } = options
  addProjectWrite(
    app,
    '/calls/delete',
    {
      tags: ['calls'],
      operationId: 'deleteCalls',
      summary: 'Delete calls with all of their descendants (addition to the spec).',
      body: CallsDeleteRequest,
      response: CallsDeleteResponse,
    },
    async ({ project_id, call_ids }, _caller, request) => {
      const deletion = { project_id, ids: call_ids, deleted_at_us: nowUs() }
      return { num_deleted: await deleteTaggedCalls(options, request, deletion) }
    },
  )
}
