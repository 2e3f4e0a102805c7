/**
 * Tags of versions of objects, and aliases, which are names of versions.
 *
 * Spec: §2.1 (object refs; tags and aliases are additions). Choice: the routes of the public tracing clients.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { requireAccess } from '../../domain/access/permissions.ts'
import type { App } from '../../http/app-type.ts'
import { openReadCaller } from '../../http/stream/read-caller.ts'
import {
  AliasedObjectPath,
  AliasesListResponse,
  AliasesRemoveRequest,
  AliasesSetRequest,
  TaggedVersionPath,
  TagsChangeRequest,
  TagsListResponse,
} from '../../schemas/objects/object-marks.ts'
import { EmptyResponse, ProjectOnly } from '../../schemas/primitives.ts'
import type { ObjectStore } from '../../store/api/objects/objects.ts'
import type { Stores } from '../../store/api/stores.ts'

/** A change of tags or aliases: everything in which their routes differ. */
interface MarkChange<Params extends z.ZodType, Body extends z.ZodType> {
  readonly method: 'PUT' | 'POST'
  readonly url: string
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly params: Params
  readonly body: Body
  change(objects: ObjectStore, params: z.output<Params>, body: z.output<Body>): Promise<void>
}

const TAGGED = { params: TaggedVersionPath, body: TagsChangeRequest }
type Tagging = MarkChange<typeof TaggedVersionPath, typeof TagsChangeRequest>

const ADD_TAGS: Tagging = {
  ...TAGGED,
  method: 'PUT',
  url: '/objs/:object_id/versions/:digest/tags',
  operationId: 'addTags',
  summary: 'Add tags to a version of an object.',
  change: (objects, { object_id, digest: version }, { project_id, tags: names }) =>
    objects.addTags({ project_id, object_id, version, names }),
}

const REMOVE_TAGS: Tagging = {
  ...TAGGED,
  method: 'POST',
  url: '/objs/:object_id/versions/:digest/tags/remove',
  operationId: 'removeTags',
  summary: 'Remove tags from a version of an object.',
  change: (objects, { object_id, digest: version }, { project_id, tags: names }) =>
    objects.removeTags({ project_id, object_id, version, names }),
}

const SET_ALIASES: MarkChange<typeof AliasedObjectPath, typeof AliasesSetRequest> = {
  method: 'PUT',
  url: '/objs/:object_id/aliases',
  operationId: 'setAliases',
  summary: 'Set aliases of a version of an object.',
  description: 'An alias can be used wherever a version is named, also in refs.',
  params: AliasedObjectPath,
  body: AliasesSetRequest,
  change: (objects, { object_id }, { project_id, digest: version, aliases: names }) =>
    objects.setAliases({ project_id, object_id, version, names }),
}

const REMOVE_ALIASES: MarkChange<typeof AliasedObjectPath, typeof AliasesRemoveRequest> = {
  method: 'POST',
  url: '/objs/:object_id/aliases/remove',
  operationId: 'removeAliases',
  summary: 'Remove aliases of an object.',
  params: AliasedObjectPath,
  body: AliasesRemoveRequest,
  change: (objects, { object_id }, { project_id, aliases: names }) =>
    objects.removeAliases({ project_id, object_id, names }),
}

const tags = ['objects']

export async function objectMarkRoutes(
  app: App,
  { objects }: Pick<Stores, 'objects'>,
): Promise<void> {
  addChange(app, objects, ADD_TAGS)
  addChange(app, objects, REMOVE_TAGS)
  addChange(app, objects, SET_ALIASES)
  addChange(app, objects, REMOVE_ALIASES)
  addLists(app, objects)
}

function addChange<Params extends z.ZodType, Body extends z.ZodType<{ project_id: string }>>(
  app: App,
  objects: ObjectStore,
  { method, url, change, ...schema }: MarkChange<Params, Body>,
): void {
  app.route({
    method,
    url,
    schema: { tags, ...schema, response: { 200: EmptyResponse } },
    async handler(request) {
      const body = request.body as z.output<Body>
      requireAccess(request.principal, 'traces:write', body.project_id)
      await change(objects, request.params as z.output<Params>, body)
      return {}
    },
  })
}

function addLists(app: App, objects: ObjectStore): void {
  app.get(
    '/tags',
    {
      schema: {
        tags,
        operationId: 'listTags',
        summary: 'List the tags of a project.',
        querystring: ProjectOnly,
        response: { 200: TagsListResponse },
      },
    },
    async (request, reply) => ({ tags: await objects.listTags(openMarks(request, reply)) }),
  )
  app.get(
    '/aliases',
    {
      schema: {
        tags,
        operationId: 'listAliases',
        summary: 'List the aliases of a project.',
        querystring: ProjectOnly,
        response: { 200: AliasesListResponse },
      },
    },
    async (request, reply) => ({ aliases: await objects.listAliases(openMarks(request, reply)) }),
  )
}

function openMarks(request: FastifyRequest, reply: FastifyReply) {
  const { project_id } = request.query as z.output<typeof ProjectOnly>
  requireAccess(request.principal, 'traces:read', project_id)
  return openReadCaller(request, reply, project_id)
}
