/** The list of served models. Spec: §4.7, §2.11; reading one model is an addition. */
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { canUseModel } from '../../domain/access/permissions.ts'
import type { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { documentScope } from '../../http/document/openapi.ts'
import { renderJsonError } from '../../http/error-handler.ts'
import { ProjectHeaders } from '../../http/project-header.ts'
import type { ModelChoice } from '../../inference/models/model-choice.ts'
import type { ModelRegistry } from '../../inference/models/registry.ts'
import { ModelListEntry, ModelListResponse } from '../../schemas/models/model.ts'
import { renderMessagesError } from '../chat/messages.ts'
import { toModelCaller } from '../chat/model-exchange.ts'

interface ModelRoutesOptions {
  readonly models: ModelRegistry
  readonly choice: ModelChoice
}

const modelId = z
  .string()
  .describe(
    'Id or alias of the model, or the name of a trained one; slashes may be percent-encoded or not.',
  )
const ModelParams = z.object({ '*': modelId })
const shownModel = {
  url: '/v1/models/:model',
  params: z.object({ model: modelId }),
  headers: ProjectHeaders,
}

/** Whether a request is one of a client of Anthropic's API, which reads another shape at the same addresses. */
function isMessagesClient({ headers }: FastifyRequest): boolean {
  return headers['anthropic-version'] !== undefined
}

const config = {
  renderError: (error: ApiError, status: number, request: FastifyRequest) =>
    isMessagesClient(request)
      ? renderMessagesError(error, status, request)
      : renderJsonError(error),
}

export async function modelRoutes(app: App, { models, choice }: ModelRoutesOptions): Promise<void> {
  documentScope(app, 'bearer')
  app.addHook('onRequest', async (request) => {
    toModelCaller(request)
  })

  app.get(
    '/v1/models',
    {
      schema: {
        tags: ['inference'],
        operationId: 'listModels',
        summary: 'List the served models that the key may use, those of the models file first.',
        description: 'With the header `anthropic-version` in the shape of the Anthropic API.',
        shown: { headers: ProjectHeaders, response: { 200: ModelListResponse } },
      },
      config,
    },
    async (request) => {
      const modelCaller = toModelCaller(request)
      const stored = await choice.listStored(modelCaller)
      const all = [...models.listEntries(), ...stored]
      const namesOf = ({ id, root }: ModelListEntry) => [
        id,
        root,
        ...(models.findModel(id)?.aliases ?? []),
      ]
      const data = all.filter((entry) => canUseModel(modelCaller.caller, namesOf(entry)))
      if (!isMessagesClient(request)) return { object: 'list' as const, data }
      const ids = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null }
      return { data: data.map(toMessagesModel), has_more: false, ...ids }
    },
  )

  app.get(
    '/v1/models/*',
    {
      schema: {
        tags: ['inference'],
        operationId: 'readModel',
        summary: 'Read one model by its id or an alias (addition to the spec).',
        params: ModelParams,
        shown: { ...shownModel, response: { 200: ModelListEntry } },
      },
      config,
    },
    async (request) => {
      const entry = await choice.describe(request.params['*'], toModelCaller(request))
      return isMessagesClient(request) ? toMessagesModel(entry) : entry
    },
  )
}

/** Spec: §2.11. Choice: a model has no name to display but its id. */
function toMessagesModel({ id, created }: ModelListEntry) {
  const created_at = new Date(created * 1000).toISOString().replace('.000Z', 'Z')
  return { type: 'model', id, display_name: id, created_at }
}
