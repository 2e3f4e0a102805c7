/** Calls in batches and under the address of their project, as tracing SDKs send them. Additions to the spec. */
import { renderBatch } from '../../domain/calls/call-batch.ts'
import type { App } from '../../http/app-type.ts'
import { CallEndRequest, CallStartRequest, CallStartResponse } from '../../schemas/calls/call.ts'
import {
  CallBatchResponse,
  CallsCompleteRequest,
  CallUpsertBatchRequest,
} from '../../schemas/calls/call-batch.ts'
import { EmptyResponse, ProjectPath } from '../../schemas/primitives.ts'
import type { Stores } from '../../store/api/stores.ts'
import type { LargeBodies } from '../bodies/large-bodies.ts'

interface CallBatchRoutesOptions extends Pick<Stores, 'calls'> {
  readonly bodies: LargeBodies
}

const config = { body: 'bytes' } as const
const tags = ['calls']

export async function callBatchRoutes(app: App, options: CallBatchRoutesOptions): Promise<void> {
  addUpsertBatch(app, options)
  addComplete(app, options)
  addProjectStart(app, options)
  addProjectEnd(app, options)
}

function addUpsertBatch(app: App, { calls, bodies }: CallBatchRoutesOptions): void {
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
      const prepared = await bodies.prepare(app, request, 'upserts')
      const outcome = await calls.writePacked(prepared.packed, prepared.projects)
      return renderBatch(prepared, outcome, (field) => field.replace(/^(?=start\.|end\.)/, 'req.'))
    },
  )
}

function addComplete(app: App, { calls, bodies }: CallBatchRoutesOptions): void {
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
      const prepared = await bodies.prepare(app, request, 'completed')
      const outcome = await calls.writePacked(prepared.packed, prepared.projects)
      return renderBatch(prepared, outcome, (field) => field.replace(/^(?:start|end)\./, ''))
    },
  )
}

function addProjectStart(app: App, { calls, bodies }: CallBatchRoutesOptions): void {
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
    async (request) => calls.startCall(await bodies.prepare(app, request, 'start')),
  )
}

function addProjectEnd(app: App, { calls, bodies }: CallBatchRoutesOptions): void {
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
        response: { 200: EmptyResponse },
      },
    },
    async (request) => {
      await calls.endCall(await bodies.prepare(app, request, 'end'))
      return {}
    },
  )
}
