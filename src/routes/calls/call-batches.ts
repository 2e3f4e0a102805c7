/** Calls in batches and under the address of their project, as tracing SDKs send them. Additions to the spec. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { requireAccess, requireScope } from '../../domain/access/permissions.ts'
import { prepareBatch, renderBatch, resolveCompletedCall } from '../../domain/calls/call-batch.ts'
import { type CallParts, resolveCallEnd, resolveCallStart } from '../../domain/calls/new-call.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { CallEndRequest, CallStartRequest, CallStartResponse } from '../../schemas/calls/call.ts'
import {
  CallBatchItem,
  CallBatchResponse,
  CallsCompleteRequest,
  CallUpsertBatchRequest,
  CompletedCallSchemaForInsert,
} from '../../schemas/calls/call-batch.ts'
import { EmptyAnswer, ProjectPath } from '../../schemas/primitives.ts'
import type { Stores } from '../../store/api/stores.ts'
import { projectOf } from '../projects/project-path.ts'
import { startDefaults } from './calls.ts'

interface CallBatchRoutesOptions extends Pick<Stores, 'calls'> {
  /** Scheme of the refs that are extracted from inputs and outputs. */
  readonly refScheme: string
}

const config = { keepsLongNumbers: true }
const tags = ['calls']

export async function callBatchRoutes(app: App, options: CallBatchRoutesOptions): Promise<void> {
  addUpsertBatch(app, options)
  addComplete(app, options)
  addProjectStart(app, options)
  addProjectEnd(app, options)
}

function addUpsertBatch(app: App, { calls, refScheme }: CallBatchRoutesOptions): void {
  app.post(
    '/call/upsert_batch',
    {
      config,
      schema: {
        tags,
        operationId: 'upsertCalls',
        summary:
          'Record starts and ends of calls in one durable commit; an invalid item fails alone (addition to the spec).',
        body: CallUpsertBatchRequest,
        response: { 200: CallBatchResponse },
      },
    },
    async (request) => {
      const caller = requireScope(request.principal, 'traces:write')
      const prepared = await prepareBatch(request.body.batch, nextTurn, (json): CallParts => {
        const item = app.spelling.parse(CallBatchItem, json)
        if (item.mode === 'end') {
          requireAccess(caller, 'traces:write', item.req.end.project_id, 'req.end.project_id')
          return { start: null, end: resolveCallEnd(item.req.end, refScheme) }
        }
        requireAccess(caller, 'traces:write', item.req.start.project_id, 'req.start.project_id')
        const start = resolveCallStart(item.req.start, startDefaults(caller), refScheme)
        return { start, end: null }
      })
      const results = await calls.writeParts(prepared.parts)
      return renderBatch(prepared, results, (field) => field.replace(/^(?=start\.|end\.)/, 'req.'))
    },
  )
}

function addComplete(app: App, { calls, refScheme }: CallBatchRoutesOptions): void {
  app.post(
    '/v2/:entity/:project/calls/complete',
    {
      config,
      schema: {
        tags,
        operationId: 'completeProjectCalls',
        summary:
          'Record calls that have begun and ended in one durable commit; an invalid item fails alone (addition to the spec).',
        params: ProjectPath,
        body: CallsCompleteRequest,
        response: { 200: CallBatchResponse },
      },
    },
    async (request) => {
      const project_id = projectOf(request.params)
      const caller = requireAccess(request.principal, 'traces:write', project_id)
      const prepared = await prepareBatch(request.body.batch, nextTurn, (json) => {
        const call = app.spelling.parse(CompletedCallSchemaForInsert, json)
        requireSameProject(call.project_id, project_id, 'project_id')
        return resolveCompletedCall(call, startDefaults(caller), refScheme)
      })
      const results = await calls.writeParts(prepared.parts)
      return renderBatch(prepared, results, (field) => field.replace(/^(?:start|end)\./, ''))
    },
  )
}

function addProjectStart(app: App, { calls, refScheme }: CallBatchRoutesOptions): void {
  app.post(
    '/v2/:entity/:project/call/start',
    {
      config,
      schema: {
        tags,
        operationId: 'startProjectCall',
        summary:
          'Record the start of a call of the project, like /call/start (addition to the spec).',
        params: ProjectPath,
        body: CallStartRequest,
        response: { 200: CallStartResponse },
      },
    },
    async (request) => {
      const project_id = projectOf(request.params)
      const { start } = request.body
      const caller = requireAccess(request.principal, 'traces:write', project_id)
      requireSameProject(start.project_id, project_id, 'start.project_id')
      return calls.startCall(resolveCallStart(start, startDefaults(caller), refScheme))
    },
  )
}

function addProjectEnd(app: App, { calls, refScheme }: CallBatchRoutesOptions): void {
  app.post(
    '/v2/:entity/:project/call/end',
    {
      config,
      schema: {
        tags,
        operationId: 'endProjectCall',
        summary: 'Record the end of a call of the project, like /call/end (addition to the spec).',
        params: ProjectPath,
        body: CallEndRequest,
        response: { 200: EmptyAnswer },
      },
    },
    async (request) => {
      const project_id = projectOf(request.params)
      const { end } = request.body
      requireAccess(request.principal, 'traces:write', project_id)
      requireSameProject(end.project_id, project_id, 'end.project_id')
      await calls.endCall(resolveCallEnd(end, refScheme))
      return {}
    },
  )
}

/** @throws ApiError validation_failed when a body names another project than the address */
function requireSameProject(sent: string, project_id: string, param: string): void {
  if (sent === project_id) return
  throw new ApiError('validation_failed', {
    param,
    message: `${param} must equal that of the address`,
  })
}
