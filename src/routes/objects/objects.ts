/**
 * Published objects: create, read, query, delete.
 *
 * Spec: §2.1 (object refs; their routes are not shown). Choice: those of the public tracing clients.
 */

import { renderObject, requireObject } from '../../domain/objects/object-view.ts'
import type { Clock } from '../../domain/time/clock.ts'
import type { App } from '../../http/app-type.ts'
import { addProjectRead, addProjectWrite } from '../../http/project-routes.ts'
import {
  OBJECTS_LIMIT_MAX,
  ObjectCreateRequest,
  ObjectCreateResponse,
  ObjectDeleteRequest,
  ObjectDeleteResponse,
  ObjectQueryRequest,
  ObjectQueryResponse,
  ObjectReadRequest,
  ObjectReadResponse,
} from '../../schemas/objects/object.ts'
import type { Stores } from '../../store/api/stores.ts'
import { recordBefore } from '../access/audit.ts'
import type { LargeBodies } from '../bodies/large-bodies.ts'

/** Limit: bytes of contents in one response; twice what one request may bring. */
export const CONTENT_BYTES_MAX = 64 * 1024 * 1024

interface ObjectRoutesOptions extends Pick<Stores, 'audit' | 'objects'>, Pick<Clock, 'nowUs'> {
  readonly bodies: LargeBodies
}

const tags = ['objects']

export async function objectRoutes(app: App, options: ObjectRoutesOptions): Promise<void> {
  addObjectCreate(app, options)
  addObjectRead(app, options)
  addObjectQuery(app, options)
  addObjectDelete(app, options)
}

function addObjectCreate(app: App, { objects, bodies }: ObjectRoutesOptions): void {
  app.post(
    '/obj/create',
    {
      config: { body: 'bytes' },
      schema: {
        tags,
        operationId: 'createObject',
        summary:
          'Publish a version of an object; publishing the same content again yields the same version.',
        body: ObjectCreateRequest,
        response: { 200: ObjectCreateResponse },
      },
    },
    async (request) => {
      const object = await bodies.prepare(app, request, 'object')
      await objects.createObject(object)
      return { digest: object.digest, object_id: object.object_id }
    },
  )
}

function addObjectRead(app: App, { objects }: ObjectRoutesOptions): void {
  addProjectRead(
    app,
    '/obj/read',
    {
      tags,
      operationId: 'readObject',
      summary: 'Read a version of an object.',
      body: ObjectReadRequest,
      response: ObjectReadResponse,
    },
    async ({ project_id, object_id, digest, metadata_only, ...options }) => {
      const withMarks = options.include_tags_and_aliases ?? false
      const found = await objects.findObject(project_id, object_id, digest, withMarks)
      const version = requireObject(found)
      const content = metadata_only ? null : await objects.findContent(project_id, version.digest)
      return { obj: renderObject(version, content, options) }
    },
  )
}

function addObjectQuery(app: App, { objects }: ObjectRoutesOptions): void {
  addProjectRead(
    app,
    '/objs/query',
    {
      tags,
      operationId: 'queryObjects',
      summary: 'List versions of objects.',
      body: ObjectQueryRequest,
      response: ObjectQueryResponse,
    },
    async ({ project_id, filter, sort_by, limit, offset, metadata_only, ...options }, caller) => {
      const listing = {
        project_id,
        filter: filter ?? {},
        sort_by: sort_by ?? [],
        limit: limit ?? OBJECTS_LIMIT_MAX,
        offset: offset ?? 0,
        withContent: !metadata_only,
        contentBytesMax: CONTENT_BYTES_MAX,
      }
      const found = await objects.listObjects(listing, caller)
      return {
        objs: found.map(({ version, val_json }) => renderObject(version, val_json, options)),
      }
    },
  )
}

function addObjectDelete(app: App, { audit, objects, nowUs }: ObjectRoutesOptions): void {
  addProjectWrite(
    app,
    '/obj/delete',
    {
      tags,
      operationId: 'deleteObjects',
      summary: 'Delete versions of an object, or all of them.',
      body: ObjectDeleteRequest,
      response: ObjectDeleteResponse,
    },
    async ({ project_id, object_id, digests }, _caller, request) => {
      const act = { action: 'objects.delete', project_id, subject_id: object_id } as const
      await recordBefore(audit, request, { ...act, before: { digests: digests ?? null } })
      const deleted = await objects.deleteObjects(project_id, object_id, digests ?? null, nowUs())
      return {
        num_deleted: deleted.length,
        deleted_versions: deleted.map(({ digest, base_object_class, leaf_object_class }) => ({
          digest,
          base_object_class,
          leaf_object_class,
        })),
      }
    },
  )
}
