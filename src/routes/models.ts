/** The list of served models. Spec: §4.7, §2.11; reading one model is an addition. */
import { z } from 'zod'
import { requireScope } from '../domain/permissions.ts'
import type { App } from '../http/app-type.ts'
import { requireProjectHeader } from '../http/project-header.ts'
import type { ModelRegistry } from '../inference/registry.ts'
import { ModelListEntry, ModelListResponse } from '../schemas/model.ts'

export interface ModelRoutesOptions {
  readonly models: ModelRegistry
}

const ModelParams = z.object({
  '*': z.string().describe('Id or alias of the model; slashes in it may be encoded or not.'),
})

export async function modelRoutes(app: App, { models }: ModelRoutesOptions): Promise<void> {
  app.addHook('onRequest', async (request) => {
    requireScope(request.principal, 'inference')
    requireProjectHeader(request)
  })

  app.get(
    '/v1/models',
    {
      schema: {
        tags: ['inference'],
        summary: 'List the served models.',
        response: { 200: ModelListResponse },
      },
    },
    async () => ({ object: 'list' as const, data: [...models.listEntries()] }),
  )

  app.get(
    '/v1/models/*',
    {
      schema: {
        tags: ['inference'],
        summary: 'Read one model by its id or an alias (addition to the spec).',
        params: ModelParams,
        response: { 200: ModelListEntry },
      },
    },
    async (request) => models.getEntry(request.params['*']),
  )
}
