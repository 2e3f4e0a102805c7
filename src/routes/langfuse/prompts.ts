/** Prompts of Langfuse's SDKs, kept as objects with aliases for labels. Additions to the spec. */
import { parseExact } from '../../domain/json/json-text.ts'
import { objectOrEmpty } from '../../domain/json/json-values.ts'
import { cutPage } from '../../domain/langfuse/pages.ts'
import {
  groupPrompts,
  isWantedPrompt,
  PROMPT_CLASS,
  type PromptVersions,
  promptContent,
  promptVersionName,
  renderPrompt,
  renderPromptMeta,
  tagsOf,
} from '../../domain/langfuse/prompts.ts'
import { newObjectOf, objectIdOf } from '../../domain/objects/object-kinds.ts'
import type { ObjectVersion } from '../../domain/objects/object-view.ts'
import type { Clock } from '../../domain/time/clock.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { requireLangfuseCaller } from '../../http/langfuse-scope.ts'
import {
  PromptCreateRequest,
  PromptLabelsRequest,
  PromptPath,
  PromptQuery,
  PromptsQuery,
  PromptVersionPath,
} from '../../schemas/langfuse/prompt.ts'
import { OBJECTS_LIMIT_MAX } from '../../schemas/objects/object.ts'
import type { ObjectStore } from '../../store/api/objects/objects.ts'
import type { Stores } from '../../store/api/stores.ts'
import { recordBefore } from '../access/audit.ts'

export interface PromptOptions extends Pick<Stores, 'audit' | 'objects'>, Pick<Clock, 'nowUs'> {}

// Numbers of configurations are stored as they were sent.
const config = { body: 'exact' } as const
const url = '/v2/prompts'

export async function promptRoutes(app: App, options: PromptOptions): Promise<void> {
  addCreate(app, options)
  addList(app, options)
  addRead(app, options)
  addLabels(app, options)
  addDelete(app, options)
}

function addCreate(app: App, { objects, nowUs }: PromptOptions): void {
  app.post(url, { config, schema: { body: PromptCreateRequest } }, async (request, reply) => {
    const { project_id, principal } = requireLangfuseCaller(
      request,
      reply,
      'traces:write',
      'traces:read',
    )
    const { name, labels, tags } = request.body
    const object_id = objectIdOf(name)
    const created_at_us = nowUs()
    const { svc_user_id } = principal
    const named = { project_id, object_id, svc_user_id, created_at_us }
    const object = newObjectOf(promptContent(request.body, created_at_us), named)
    const before = await objects.findObject(project_id, object_id, 'latest')
    const isPrompt = before === null || before.base_object_class === PROMPT_CLASS
    if (!isPrompt) {
      const message = `There is an object ${object_id} that is no prompt.`
      throw new ApiError('object_conflict', { param: 'name', message })
    }
    await objects.createObject(object)
    const marked = { project_id, object_id, version: object.digest }
    // Tags belong to a prompt with all its versions.
    const names = tags ?? (before === null ? [] : tagsOf(before))
    if (names.length > 0) await objects.addTags({ ...marked, names })
    if (labels?.length) await objects.setAliases({ ...marked, names: labels })
    return readPrompt(objects, project_id, name, object.digest)
  })
}

/** @param version - as findObject takes it */
async function readPrompt(objects: ObjectStore, project_id: string, name: string, version: string) {
  const found = await findPrompt(objects, project_id, name, version)
  return renderPrompt(found, await readContent(objects, found))
}

/** @throws ApiError object_not_found */
async function findPrompt(
  objects: ObjectStore,
  project_id: string,
  name: string,
  version: string,
): Promise<ObjectVersion> {
  const found = await objects.findObject(project_id, objectIdOf(name), version)
  const isThere = found?.deleted_at_us === null && found.base_object_class === PROMPT_CLASS
  if (isThere) return found
  const shown = /^v\d+$/.test(version)
    ? `version ${Number(version.slice(1)) + 1}`
    : `label ${JSON.stringify(version)}`
  const message = `There is no prompt ${JSON.stringify(name)} with ${shown}.`
  throw new ApiError('object_not_found', { param: 'promptName', message })
}

async function readContent(objects: ObjectStore, { project_id, digest }: ObjectVersion) {
  return objectOrEmpty(parseExact((await objects.findContent(project_id, digest)) ?? 'null'))
}

function addRead(app: App, { objects }: PromptOptions): void {
  const schema = { params: PromptPath, querystring: PromptQuery }
  app.get(`${url}/:promptName`, { schema }, async (request, reply) => {
    const { project_id } = requireLangfuseCaller(request, reply, 'traces:read')
    const version = promptVersionName(request.query)
    return readPrompt(objects, project_id, request.params.promptName, version)
  })
}

function addList(app: App, { objects }: PromptOptions): void {
  app.get(url, { schema: { querystring: PromptsQuery } }, async (request, reply) => {
    const { project_id, reader } = requireLangfuseCaller(request, reply, 'traces:read')
    const { query } = request
    const listing = {
      project_id,
      filter: {
        is_op: false,
        base_object_classes: [PROMPT_CLASS],
        object_ids: query.name === undefined ? [] : [objectIdOf(query.name)],
      },
      sort_by: [],
      limit: OBJECTS_LIMIT_MAX,
      offset: 0,
      withContent: false,
      contentBytesMax: 0,
    }
    const found = await objects.listObjects(listing, reader)
    const prompts = groupPrompts(found.map(({ version }) => version))
    const { data, meta } = cutPage(
      prompts.filter((prompt) => isWantedPrompt(prompt, query)),
      query,
    )
    return { data: await renderMetas(objects, data), meta }
  })
}

async function renderMetas(objects: ObjectStore, prompts: readonly PromptVersions[]) {
  const metas = []
  for (const prompt of prompts) {
    metas.push(renderPromptMeta(prompt, await readContent(objects, prompt.latest)))
  }
  return metas
}

function addLabels(app: App, { objects }: PromptOptions): void {
  const schema = { params: PromptVersionPath, body: PromptLabelsRequest }
  app.patch(`${url}/:promptName/versions/:version`, { schema }, async (request, reply) => {
    const { project_id } = requireLangfuseCaller(request, reply, 'traces:write', 'traces:read')
    const { promptName, version } = request.params
    const name = promptVersionName({ version })
    const { object_id, digest } = await findPrompt(objects, project_id, promptName, name)
    const { newLabels: names } = request.body
    if (names.length > 0) {
      await objects.setAliases({ project_id, object_id, version: digest, names })
    }
    return readPrompt(objects, project_id, promptName, name)
  })
}

/** Deletes one version, that of a label, or all. */
function addDelete(app: App, { audit, objects, nowUs }: PromptOptions): void {
  const schema = { params: PromptPath, querystring: PromptQuery }
  app.delete(`${url}/:promptName`, { schema }, async (request, reply) => {
    const { project_id } = requireLangfuseCaller(request, reply, 'traces:write')
    const { promptName } = request.params
    const isOne = request.query.version !== undefined || request.query.label !== undefined
    const name = isOne ? promptVersionName(request.query) : 'latest'
    const { object_id, digest } = await findPrompt(objects, project_id, promptName, name)
    const digests = isOne ? [digest] : null
    const act = { action: 'objects.delete', project_id, subject_id: object_id } as const
    await recordBefore(audit, request, { ...act, before: { digests } })
    await objects.deleteObjects(project_id, object_id, digests, nowUs())
    return reply.code(204).send()
  })
}
