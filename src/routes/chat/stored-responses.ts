/** Stored responses: read, delete, list input items, and cancel those in progress. */
import type { FastifyRequest } from 'fastify'
import { type Principal, requireScope } from '../../domain/access/permissions.ts'
import {
  isResponseId,
  pageItems,
  type StoredResponse,
} from '../../domain/chat/responses/responses-record.ts'
import { resolvePageQuery, toPage } from '../../domain/query/page.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import {
  InputItemsPage,
  InputItemsQuery,
  ResponseDeleted,
  ResponseObject,
  ResponseParams,
  ResponseReadQuery,
} from '../../schemas/chat/responses/response-object.ts'
import type { ResponseStore } from '../../store/api/chat/recordings.ts'
import type { Stores } from '../../store/api/stores.ts'
import { recordBefore } from '../access/audit.ts'
import { findOwnResponse } from './response-context.ts'
import type { RunningResponses } from './running-responses.ts'

interface StoredResponseRoutesOptions extends Pick<Stores, 'audit' | 'responses'> {
  readonly running: RunningResponses
}

const tags = ['inference']
const url = '/v1/responses/:response_id'
const config = { invalidBody: 'openai_400' } as const
const JSON_TYPE = 'application/json; charset=utf-8'
const shown = { response: { 200: ResponseObject } }

export async function storedResponseRoutes(
  app: App,
  { audit, responses, running }: StoredResponseRoutesOptions,
): Promise<void> {
  const find = (request: FastifyRequest, id: string) => requireResponse(responses, request, id)
  addRead(app, find)
  addInputItems(app, find)

  /** What has ended is returned as it is. @throws ApiError response_not_found, server_overloaded */
  async function cancelElsewhere(id: string, { caller, signal }: Waiting): Promise<string> {
    const findEnded = () => findOwnResponse(responses, id, caller)
    const ended = await findEnded()
    if (ended !== null) return ended.response_json
    const json = isResponseId(id) ? await running.cancelElsewhere(id, caller, signal) : null
    // It may have ended meanwhile.
    const found = json ?? (await findEnded())?.response_json
    if (found === undefined) throw notFound()
    return found
  }

  app.delete(
    url,
    {
      config,
      schema: {
        tags,
        operationId: 'deleteResponse',
        summary: 'Delete a stored response (addition to the spec).',
        params: ResponseParams,
        response: { 200: ResponseDeleted },
      },
    },
    async (request) => {
      const { id, project_id, key_id } = await find(request, request.params.response_id)
      const before = { key_id }
      const act = { action: 'response.delete', project_id: project_id ?? '*', before } as const
      await recordBefore(audit, request, { ...act, subject_id: id })
      await responses.deleteResponse(id)
      return { id, object: 'response' as const, deleted: true as const }
    },
  )

  app.post(
    `${url}/cancel`,
    {
      config,
      schema: {
        tags,
        operationId: 'cancelResponse',
        summary:
          'Cancel a response that is in progress; one that has ended is returned unchanged (addition to the spec).',
        params: ResponseParams,
        shown,
      },
    },
    async (request, reply) => {
      const caller = requireScope(request.principal, 'inference')
      const { response_id } = request.params
      const cancelled = running.cancel(response_id, caller)
      const { signal } = app.openWait(reply)
      const json =
        cancelled === null
          ? await cancelElsewhere(response_id, { caller, signal })
          : JSON.stringify(cancelled)
      return reply.header('content-type', JSON_TYPE).send(json)
    },
  )
}

interface Waiting {
  readonly caller: Principal
  readonly signal: AbortSignal
}

type Find = (request: FastifyRequest, id: string) => Promise<StoredResponse>

function addRead(app: App, find: Find): void {
  app.get(
    url,
    {
      config,
      schema: {
        tags,
        operationId: 'readResponse',
        summary: 'Read a stored response (addition to the spec).',
        params: ResponseParams,
        querystring: ResponseReadQuery,
        shown,
      },
    },
    async (request, reply) => {
      if (request.query.stream === 'true') {
        const message = 'A stored response is read at once, not as a stream.'
        throw new ApiError('unsupported_parameter', { param: 'stream', message })
      }
      const { response_json } = await find(request, request.params.response_id)
      return reply.header('content-type', JSON_TYPE).send(response_json)
    },
  )
}

function addInputItems(app: App, find: Find): void {
  app.get(
    `${url}/input_items`,
    {
      config,
      schema: {
        tags,
        operationId: 'listResponseInputItems',
        summary:
          'List the input items of a stored response, without those of earlier responses (addition to the spec).',
        params: ResponseParams,
        querystring: InputItemsQuery,
        response: { 200: InputItemsPage },
      },
    },
    async (request) => {
      const { limit } = resolvePageQuery(request.query)
      const { after = null, order = 'desc' } = request.query
      const stored = await find(request, request.params.response_id)
      const items = pageItems(stored, { after: after || null, limit, order })
      return toPage(items, limit)
    },
  )
}

/** @throws ApiError response_not_found for one that does not exist or belongs to others */
async function requireResponse(
  responses: ResponseStore,
  request: FastifyRequest,
  id: string,
): Promise<StoredResponse> {
  const caller = requireScope(request.principal, 'inference')
  const found = await findOwnResponse(responses, id, caller)
  if (found === null) throw notFound()
  return found
}

function notFound(): ApiError {
  return new ApiError('response_not_found', { param: 'response_id' })
}
