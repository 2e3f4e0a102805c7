/**
 * Objects by kind: create, list, read and delete ops, datasets, models, scorers and evaluations. They are the versions
 * that /obj/create publishes.
 *
 * Spec: §2.1 (object refs; these routes are additions). Choice: the routes of the public tracing clients.
 */
import type { z } from 'zod'
import { requireAccess } from '../../domain/access/permissions.ts'
import { filterOfKind, isOfKind } from '../../domain/objects/object-kinds.ts'
import { requireObject } from '../../domain/objects/object-view.ts'
import { ApiError, isNotFound } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { linesResponse } from '../../http/document/responses.ts'
import { sendLines } from '../../http/stream/json-lines.ts'
import { openReadCaller } from '../../http/stream/read-caller.ts'
import { OBJECTS_LIMIT_MAX } from '../../schemas/objects/object.ts'
import {
  KINDS_LIMIT_MAX,
  KindDeleteQuery,
  KindDeleteResponse,
  KindListQuery,
  KindObjectPath,
  KindReadQuery,
  KindVersionPath,
} from '../../schemas/objects/object-kinds.ts'
import { ProjectPath } from '../../schemas/primitives.ts'
import type { ObjectStore } from '../../store/api/objects/objects.ts'
import { recordBefore } from '../access/audit.ts'
import { projectOf } from '../projects/project-path.ts'
import {
  createKindWriter,
  type KindStoreOptions,
  readKindVersion,
  readListedVersion,
} from './kind-store.ts'
import { OBJECT_KINDS, type ObjectKind } from './kind-table.ts'
import { CONTENT_BYTES_MAX } from './objects.ts'

const tags = ['objects']

export async function objectKindRoutes(app: App, options: KindStoreOptions): Promise<void> {
  for (const kind of OBJECT_KINDS) {
    addCreate(app, options, kind)
    addList(app, options, kind)
    addRead(app, options, kind)
    addDelete(app, options, kind)
  }
}

function addCreate(app: App, options: KindStoreOptions, kind: ObjectKind): void {
  app.post(
    `/v2/:entity/:project/${kind.path}`,
    {
      // Rows and numbers are stored as they were sent.
      config: { body: 'exact' },
      schema: {
        tags,
        operationId: `publish${kind.word}`,
        summary: `Publish a version of one of the ${kind.path} of a project.`,
        params: ProjectPath,
        body: kind.createRequest,
        response: { 200: kind.createResponse },
      },
    },
    async (request) => {
      const project_id = projectOf(request.params as z.infer<typeof ProjectPath>)
      const { svc_user_id } = requireAccess(request.principal, 'traces:write', project_id)
      const writer = createKindWriter(options, { project_id, svc_user_id })
      const version = await kind.create(request.body, writer, request.bodyText ?? '')
      const { digest, object_id, version_index } = version
      const ref = kind.refField === null ? {} : { [kind.refField]: writer.refTo(version) }
      return { digest, object_id, version_index, ...ref }
    },
  )
}

function addList(app: App, { objects, files }: KindStoreOptions, kind: ObjectKind): void {
  app.get(
    `/v2/:entity/:project/${kind.path}`,
    {
      schema: {
        tags,
        operationId: `list${kind.word}Versions`,
        summary: `List the ${kind.path} of a project with all versions, one JSON object per line.`,
        params: ProjectPath,
        querystring: KindListQuery,
        response: { 200: linesResponse('A version a line, the oldest first.', kind.readResponse) },
      },
    },
    async (request, reply) => {
      const project_id = projectOf(request.params)
      requireAccess(request.principal, 'traces:read', project_id)
      const { limit = KINDS_LIMIT_MAX, offset = 0 } = request.query
      const listing = {
        project_id,
        filter: filterOfKind(kind.kind),
        sort_by: [],
        limit,
        offset,
        withContent: true,
        contentBytesMax: CONTENT_BYTES_MAX,
      }
      const found = await objects.listObjects(listing, openReadCaller(request, reply, project_id))
      async function* lines(): AsyncGenerator<string> {
        for (const { version, val_json } of found) {
          const read = await readListedVersion(files, version, val_json)
          yield `${JSON.stringify(kind.render(read))}\n`
        }
      }
      return sendLines(reply, lines())
    },
  )
}

function addRead(app: App, { objects, files }: KindStoreOptions, kind: ObjectKind): void {
  app.get(
    `/v2/:entity/:project/${kind.path}/:object_id/versions/:digest`,
    {
      schema: {
        tags,
        operationId: `read${kind.word}Version`,
        summary: `Read a version of one of the ${kind.path} of a project.`,
        params: KindVersionPath,
        querystring: KindReadQuery,
        response: { 200: kind.readResponse },
      },
    },
    async (request) => {
      const { object_id, digest, ...project } = request.params as z.infer<typeof KindVersionPath>
      const project_id = projectOf(project)
      requireAccess(request.principal, 'traces:read', project_id)
      const version = requireObject(await objects.findObject(project_id, object_id, digest, false))
      if (!isOfKind(version, kind.kind)) throw new ApiError('object_not_found', { param: 'digest' })
      const content = await objects.findContent(project_id, version.digest)
      return kind.render(await readKindVersion(files, version, content))
    },
  )
}

function addDelete(app: App, { audit, objects, nowUs }: KindStoreOptions, kind: ObjectKind): void {
  app.delete(
    `/v2/:entity/:project/${kind.path}/:object_id`,
    {
      schema: {
        tags,
        operationId: `delete${kind.word}Versions`,
        summary: `Delete versions of one of the ${kind.path} of a project, or all of them.`,
        params: KindObjectPath,
        querystring: KindDeleteQuery,
        response: { 200: KindDeleteResponse },
      },
    },
    async (request, reply) => {
      const { object_id, ...project } = request.params
      const project_id = projectOf(project)
      requireAccess(request.principal, 'traces:write', project_id)
      const { digests } = request.query
      const act = { action: 'objects.delete', project_id, subject_id: object_id } as const
      const named = digests === undefined ? null : [digests].flat()
      await recordBefore(audit, request, { ...act, before: { digests: named } })
      if (named !== null) {
        const chosen = await chooseNamed(objects, { project_id, object_id }, kind, named)
        const deleted = await objects.deleteObjects(project_id, object_id, chosen, nowUs())
        return { num_deleted: deleted.length }
      }
      const caller = openReadCaller(request, reply, project_id)
      const listing = {
        filter: { ...filterOfKind(kind.kind), object_ids: [object_id] },
        project_id,
        sort_by: [],
        limit: OBJECTS_LIMIT_MAX,
        offset: 0,
        withContent: false,
        contentBytesMax: CONTENT_BYTES_MAX,
      }
      let num_deleted = 0
      for (;;) {
        const found = await objects.listObjects(listing, caller)
        const live = found.map(({ version }) => version.digest)
        if (live.length === 0) break
        const deleted = await deleteLive(objects, { project_id, object_id }, live, nowUs())
        num_deleted += deleted ?? 0
        if (deleted !== null && live.length < OBJECTS_LIMIT_MAX) break
      }
      if (num_deleted === 0) throw new ApiError('object_not_found', { param: 'object_id' })
      return { num_deleted }
    },
  )
}

/** Returns the number of deleted versions; null for none, when another request has deleted one of them. */
async function deleteLive(
  objects: ObjectStore,
  { project_id, object_id }: { readonly project_id: string; readonly object_id: string },
  digests: readonly string[],
  deletedAtUs: number,
): Promise<number | null> {
  try {
    return (await objects.deleteObjects(project_id, object_id, digests, deletedAtUs)).length
  } catch (error) {
    if (isNotFound(error)) return null
    throw error
  }
}

/** Returns the digests of the named versions. @throws ApiError object_not_found for one of another kind */
async function chooseNamed(
  objects: ObjectStore,
  { project_id, object_id }: { readonly project_id: string; readonly object_id: string },
  kind: ObjectKind,
  names: readonly string[],
): Promise<string[]> {
  const chosen = new Set<string>()
  for (const [at, name] of names.entries()) {
    const version = await objects.findObject(project_id, object_id, name, false)
    if (version === null || version.deleted_at_us !== null || !isOfKind(version, kind.kind)) {
      throw new ApiError('object_not_found', { param: `digests[${at}]` })
    }
    chosen.add(version.digest)
  }
  return [...chosen]
}
