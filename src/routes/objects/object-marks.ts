/**
 * Tags of versions of objects, and aliases, which are names of versions.
 *
 * Spec: §2.1 (object refs; tags and aliases are additions). Choice: the routes of the public tracing clients.
 */
import { requireAccess } from '../../domain/access/permissions.ts'
import type { App } from '../../http/app-type.ts'
import { openReadCaller } from '../../http/stream/read-caller.ts'
import {
  AliasedObjectPath,
  AliasesListResponse,
  AliasesRemoveRequest,
  AliasesSetRequest,
  DoneResponse,
  MarksListQuery,
  TaggedVersionPath,
  TagsChangeRequest,
  TagsListResponse,
} from '../../schemas/objects/object-marks.ts'
import type { ObjectStore } from '../../store/api/objects/objects.ts'

export interface ObjectMarkRoutesOptions {
  readonly objects: ObjectStore
}

const tags = ['objects']

export async function objectMarkRoutes(app: App, options: ObjectMarkRoutesOptions): Promise<void> {
  addTagChanges(app, options)
  addAliasChanges(app, options)
  addLists(app, options)
}

function addTagChanges(app: App, { objects }: ObjectMarkRoutesOptions): void {
  app.put(
    '/objs/:object_id/versions/:digest/tags',
    {
      schema: {
        tags,
        operationId: 'addTags',
        summary: 'Put tags on a version of an object.',
        params: TaggedVersionPath,
        body: TagsChangeRequest,
        response: { 200: DoneResponse },
      },
    },
    async (request) => {
      const { project_id, tags: names } = request.body
      requireAccess(request.principal, 'traces:write', project_id)
      const { object_id, digest: version } = request.params
      await objects.addTags({ project_id, object_id, version, names })
      return {}
    },
  )
  app.post(
    '/objs/:object_id/versions/:digest/tags/remove',
    {
      schema: {
        tags,
        operationId: 'removeTags',
        summary: 'Take tags from a version of an object.',
        params: TaggedVersionPath,
        body: TagsChangeRequest,
        response: { 200: DoneResponse },
      },
    },
    async (request) => {
      const { project_id, tags: names } = request.body
      requireAccess(request.principal, 'traces:write', project_id)
      const { object_id, digest: version } = request.params
      await objects.removeTags({ project_id, object_id, version, names })
      return {}
    },
  )
}

function addAliasChanges(app: App, { objects }: ObjectMarkRoutesOptions): void {
  app.put(
    '/objs/:object_id/aliases',
    {
      schema: {
        tags,
        operationId: 'setAliases',
        summary: 'Have aliases lead to a version of an object.',
        description: 'An alias stands wherever a version is named, in refs too.',
        params: AliasedObjectPath,
        body: AliasesSetRequest,
        response: { 200: DoneResponse },
      },
    },
    async (request) => {
      const { project_id, digest: version, aliases: names } = request.body
      requireAccess(request.principal, 'traces:write', project_id)
      const { object_id } = request.params
      await objects.setAliases({ project_id, object_id, version, names })
      return {}
    },
  )
  app.post(
    '/objs/:object_id/aliases/remove',
    {
      schema: {
        tags,
        operationId: 'removeAliases',
        summary: 'Take aliases from an object.',
        params: AliasedObjectPath,
        body: AliasesRemoveRequest,
        response: { 200: DoneResponse },
      },
    },
    async (request) => {
      const { project_id, aliases: names } = request.body
      requireAccess(request.principal, 'traces:write', project_id)
      await objects.removeAliases({ project_id, object_id: request.params.object_id, names })
      return {}
    },
  )
}

function addLists(app: App, { objects }: ObjectMarkRoutesOptions): void {
  app.get(
    '/tags',
    {
      schema: {
        tags,
        operationId: 'listTags',
        summary: 'The tags of a project.',
        querystring: MarksListQuery,
        response: { 200: TagsListResponse },
      },
    },
    async (request, reply) => {
      const { project_id } = request.query
      requireAccess(request.principal, 'traces:read', project_id)
      return { tags: await objects.listTags(openReadCaller(request, reply, project_id)) }
    },
  )
  app.get(
    '/aliases',
    {
      schema: {
        tags,
        operationId: 'listAliases',
        summary: 'The aliases of a project.',
        querystring: MarksListQuery,
        response: { 200: AliasesListResponse },
      },
    },
    async (request, reply) => {
      const { project_id } = request.query
      requireAccess(request.principal, 'traces:read', project_id)
      return { aliases: await objects.listAliases(openReadCaller(request, reply, project_id)) }
    },
  )
}
