/** Names by which projects serve models: set, roll back, share with a candidate. Additions to the spec. */
import { requireAccess } from '../../domain/access/permissions.ts'
import { renderAlias } from '../../domain/models/served-alias.ts'
import type { Clock } from '../../domain/time/clock.ts'
import { ApiError, refuseField } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { originOf } from '../../http/audit-origin.ts'
import type { ModelChoice } from '../../inference/models/model-choice.ts'
import type { ModelRegistry } from '../../inference/models/registry.ts'
import * as WIRE from '../../schemas/models/served-alias.ts'
import type { Stores } from '../../store/api/stores.ts'

export interface AliasRoutesOptions extends Pick<Clock, 'nowUs'>, Pick<Stores, 'servedAliases'> {
  readonly choice: ModelChoice
  readonly registry: ModelRegistry
}

const tags = ['preview']
const url = '/v1/preview/aliases'

export async function aliasRoutes(app: App, options: AliasRoutesOptions): Promise<void> {
  addList(app, options)
  addSet(app, options)
  addRollBack(app, options)
  addDelete(app, options)
}

function addList(app: App, { servedAliases }: AliasRoutesOptions): void {
  app.get(
    url,
    {
      schema: {
        tags,
        operationId: 'listServedAliases',
        summary: 'List the names by which a project serves models (addition to the spec).',
        querystring: WIRE.AliasQuery,
        response: { 200: WIRE.AliasListResponse },
      },
    },
    async (request) => {
      const { project_id } = request.query
      requireAccess(request.principal, 'training', project_id)
      const aliases = await servedAliases.listAliases(project_id)
      return { aliases: aliases.map(renderAlias) }
    },
  )
}

function addSet(app: App, options: AliasRoutesOptions): void {
  const { servedAliases, choice, registry, nowUs } = options
  app.put(
    `${url}/:name`,
    {
      schema: {
        tags,
        operationId: 'setServedAlias',
        summary:
          'Serve a model by a name, and a candidate to a share of its users (addition to the spec).',
        params: WIRE.AliasPath,
        body: WIRE.AliasSetRequest,
        response: { 200: WIRE.ServedAliasResponse },
      },
    },
    async (request) => {
      const { project_id, target, candidate = null } = request.body
      const { name } = request.params
      const caller = requireAccess(request.principal, 'training', project_id)
      requireAccess(request.principal, 'inference', project_id)
      if (registry.findModel(name) !== null) refuseField('name', 'is a model of the models file')
      const asker = { caller, projectId: project_id, isPlain: true }
      for (const model of [target, candidate?.model]) {
        if (model !== undefined) await choice.choose(model, asker)
      }
      const setting = {
        project_id,
        name,
        target,
        candidate: candidate?.model ?? null,
        candidate_percent: candidate?.percent ?? null,
        updated_at_us: nowUs(),
      }
      return renderAlias(await servedAliases.setAlias(setting, originOf(request, caller)))
    },
  )
}

function addRollBack(app: App, { servedAliases, nowUs }: AliasRoutesOptions): void {
  app.post(
    `${url}/:name/roll-back`,
    {
      schema: {
        tags,
        operationId: 'rollBackServedAlias',
        summary:
          'Serve the earlier model by a name again, without a candidate (addition to the spec).',
        params: WIRE.AliasPath,
        body: WIRE.AliasRollBackRequest,
        response: { 200: WIRE.ServedAliasResponse },
      },
    },
    async (request) => {
      const { project_id } = request.body
      const { name } = request.params
      const caller = requireAccess(request.principal, 'training', project_id)
      const named = { project_id, name, updated_at_us: nowUs() }
      const alias = await servedAliases.rollBackAlias(named, originOf(request, caller))
      if (alias === null) throw new ApiError('alias_not_found', { param: 'name' })
      return renderAlias(alias)
    },
  )
}

function addDelete(app: App, { servedAliases }: AliasRoutesOptions): void {
  app.delete(
    `${url}/:name`,
    {
      schema: {
        tags,
        operationId: 'deleteServedAlias',
        summary: 'Delete a name by which a project serves a model (addition to the spec).',
        params: WIRE.AliasPath,
        querystring: WIRE.AliasQuery,
        response: { 200: WIRE.AliasDeleteResponse },
      },
    },
    async (request) => {
      const { project_id } = request.query
      const { name } = request.params
      const caller = requireAccess(request.principal, 'training', project_id)
      const named = { project_id, name }
      return { deleted: await servedAliases.deleteAlias(named, originOf(request, caller)) }
    },
  )
}
