/** Evaluators: create, list, read, update, pause, delete. Additions to the spec. */
import { requireAccess } from '../../domain/access/permissions.ts'
import { definitionOf, type Evaluator, toPayer } from '../../domain/evaluators/evaluator.ts'
import type { App } from '../../http/app-type.ts'
import { originOf } from '../../http/audit-origin.ts'
import { newId } from '../../http/new-id.ts'
import { addProjectRead, addProjectWrite } from '../../http/project-routes.ts'
import {
  EvaluatorCreateRequest,
  EvaluatorDeleteResponse,
  EvaluatorListResponse,
  EvaluatorPath,
  EvaluatorResponse,
  EvaluatorUpdateRequest,
  EvaluatorVersionsResponse,
} from '../../schemas/evaluators/evaluator.ts'
import { ProjectOnly } from '../../schemas/primitives.ts'
import { renderTimestamp } from '../../schemas/timestamp.ts'
import {
  type EvaluatorRoutesOptions,
  notFound,
  publish,
  requireOwn,
  requireSpender,
  requireUsable,
  storeEdit,
  view,
} from './evaluator-edits.ts'

const tags = ['evaluators']
const url = '/evaluators'
/** The expected value of a rule is content. */
const config = { body: 'exact' } as const

export async function evaluatorRoutes(app: App, options: EvaluatorRoutesOptions): Promise<void> {
  addCreate(app, options)
  addList(app, options)
  addReads(app, options)
  addUpdate(app, options)
  addStates(app, options)
  addDelete(app, options)
}

function addCreate(app: App, options: EvaluatorRoutesOptions): void {
  const { evaluators, callFeed, nowUs } = options
  addProjectWrite(
    app,
    url,
    {
      config,
      tags,
      operationId: 'createEvaluator',
      summary:
        'Create an evaluator, which scores calls that are stored from now on (addition to the spec).',
      body: EvaluatorCreateRequest,
      response: EvaluatorResponse,
    },
    async ({ project_id, name, state, ...definition }, caller, request) => {
      await requireUsable(definition, project_id, caller, options)
      const now = nowUs()
      const evaluator: Evaluator = {
        id: newId(),
        project_id,
        name,
        version: 1,
        definition_json: JSON.stringify(definition),
        ref: await publish({ project_id, name }, definition, caller, options),
        monitor_ref: null,
        state,
        principal_json: JSON.stringify(toPayer(caller, project_id)),
        from_position: await callFeed.findEnd(),
        failures: 0,
        retry_at_us: 0,
        last_error: null,
        backfill_json: null,
        created_at_us: now,
        updated_at_us: now,
      }
      await evaluators.createEvaluator(evaluator, originOf(request, caller))
      return view(evaluator, options)
    },
  )
}

function addList(app: App, options: EvaluatorRoutesOptions): void {
  addProjectRead(
    app,
    `${url}/query`,
    {
      tags,
      operationId: 'listEvaluators',
      summary: 'List the evaluators of a project, and what they have done (addition to the spec).',
      body: ProjectOnly,
      response: EvaluatorListResponse,
    },
    async ({ project_id }) => {
      const found = await options.evaluators.listEvaluators(project_id)
      return { evaluators: await Promise.all(found.map((evaluator) => view(evaluator, options))) }
    },
  )
}

function addReads(app: App, options: EvaluatorRoutesOptions): void {
  const shown = { tags, params: EvaluatorPath, querystring: ProjectOnly }
  app.get(
    `${url}/:evaluator_id`,
    {
      schema: {
        ...shown,
        operationId: 'readEvaluator',
        summary: 'Read an evaluator, and what it has done (addition to the spec).',
        response: { 200: EvaluatorResponse },
      },
    },
    async ({ principal, params, query }) => {
      requireAccess(principal, 'traces:read', query.project_id)
      return view(await requireOwn(params, query, options), options)
    },
  )

  app.get(
    `${url}/:evaluator_id/versions`,
    {
      schema: {
        ...shown,
        operationId: 'listEvaluatorVersions',
        summary: 'List the versions of an evaluator (addition to the spec).',
        response: { 200: EvaluatorVersionsResponse },
      },
    },
    async ({ principal, params, query }) => {
      requireAccess(principal, 'traces:read', query.project_id)
      const { id } = await requireOwn(params, query, options)
      const versions = await options.evaluators.listVersions(id)
      return {
        versions: versions.map(({ created_at_us, definition_json, ...version }) => ({
          ...version,
          definition: definitionOf({ definition_json }),
          created_at: renderTimestamp(created_at_us),
        })),
      }
    },
  )
}

function addUpdate(app: App, options: EvaluatorRoutesOptions): void {
  app.put(
    `${url}/:evaluator_id`,
    {
      config,
      schema: {
        tags,
        operationId: 'updateEvaluator',
        summary:
          'Replace the definition of an evaluator; its judges are paid by the caller from now on (addition to the spec).',
        params: EvaluatorPath,
        body: EvaluatorUpdateRequest,
        response: { 200: EvaluatorResponse },
      },
    },
    async (request) => {
      const { project_id, ...definition } = request.body
      const caller = requireAccess(request.principal, 'traces:write', project_id)
      const found = await requireOwn(request.params, { project_id }, options)
      await requireUsable(definition, project_id, caller, options)
      const definition_json = JSON.stringify(definition)
      const isNext = found.definition_json !== definition_json
      const ref = isNext ? await publish(found, definition, caller, options) : found.ref
      const principal_json = JSON.stringify(toPayer(caller, project_id))
      return storeEdit(
        { id: found.id, definition_json, ref, principal_json },
        request,
        caller,
        options,
      )
    },
  )
}

function addStates(app: App, options: EvaluatorRoutesOptions): void {
  for (const [word, state, summary] of [
    [
      'pause',
      'paused',
      'Pause an evaluator: what waits keeps waiting, new calls are not queued (addition to the spec).',
    ],
    [
      'resume',
      'active',
      'Resume an evaluator: calls that are stored from now on are queued again (addition to the spec).',
    ],
  ] as const) {
    app.post(
      `${url}/:evaluator_id/${word}`,
      {
        schema: {
          tags,
          operationId: `${word}Evaluator`,
          summary,
          params: EvaluatorPath,
          body: ProjectOnly,
          response: { 200: EvaluatorResponse },
        },
      },
      async (request) => {
        const { project_id } = request.body
        const caller = requireAccess(request.principal, 'traces:write', project_id)
        const found = await requireOwn(request.params, { project_id }, options)
        if (state === 'active') requireSpender(definitionOf(found), project_id, caller)
        return storeEdit({ id: found.id, state }, request, caller, options)
      },
    )
  }
}

function addDelete(app: App, options: EvaluatorRoutesOptions): void {
  app.delete(
    `${url}/:evaluator_id`,
    {
      schema: {
        tags,
        operationId: 'deleteEvaluator',
        summary:
          'Delete an evaluator and what waits for it; its results stay (addition to the spec).',
        params: EvaluatorPath,
        querystring: ProjectOnly,
        response: { 200: EvaluatorDeleteResponse },
      },
    },
    async (request) => {
      const { params, query } = request
      const caller = requireAccess(request.principal, 'traces:write', query.project_id)
      const { id } = await requireOwn(params, query, options)
      const isDeleted = await options.evaluators.deleteEvaluator(id, originOf(request, caller))
      if (!isDeleted) throw notFound()
      return { id, deleted: true as const }
    },
  )
}
