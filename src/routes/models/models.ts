/** The list of served models. Spec: §4.7, §2.11; reading one model is an addition. */
import { z } from 'zod'
import type { App } from '../../http/app-type.ts'
import { ProjectHeaders } from '../../http/project-header.ts'
import type { ModelChoice } from '../../inference/models/model-choice.ts'
import type { ModelRegistry } from '../../inference/models/registry.ts'
import { ModelListEntry, ModelListResponse } from '../../schemas/models/model.ts'
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

export async function modelRoutes(app: App, { models, choice }: ModelRoutesOptions): Promise<void> {
  app.addHook('onRequest', async (request) => {
    toModelCaller(request)
  })

  app.get(
    '/v1/models',
    {
      schema: {
        tags: ['inference'],
        operationId: 'listModels',
        summary: 'List the served models, those of the models file first.',
        shown: { headers: ProjectHeaders },
        response: { 200: ModelListResponse },
      },
    },
    async (request) => {
      const trained = await choice.listTrained(toModelCaller(request))
      return { object: 'list' as const, data: [...models.listEntries(), ...trained] }
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
        shown: shownModel,
        response: { 200: ModelListEntry },
      },
    },
    async (request) => choice.describe(request.params['*'], toModelCaller(request)),
  )
}
