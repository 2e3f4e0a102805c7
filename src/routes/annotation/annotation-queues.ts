/**
 * Annotation queues: create, list, read, update, delete, count.
 *
 * Spec: §2.2 queue_id (queues are an addition). Choice: the routes of the public tracing clients.
 */
import { requireAccess } from '../../domain/access/permissions.ts'
import { pageQueues, renderQueue } from '../../domain/annotation/annotation-queue.ts'
import type { Clock } from '../../domain/time/clock.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { linesResponse } from '../../http/document/responses.ts'
import { newId } from '../../http/new-id.ts'
import { addProjectRead, addProjectWrite } from '../../http/project-routes.ts'
import { renderLines, sendLines } from '../../http/stream/json-lines.ts'
import { openReadCaller } from '../../http/stream/read-caller.ts'
import {
  AnnotationQueueCreateRequest,
  AnnotationQueueCreateResponse,
  AnnotationQueuePath,
  AnnotationQueueResponse,
  AnnotationQueueSchema,
  AnnotationQueuesQueryRequest,
  AnnotationQueuesStatsRequest,
  AnnotationQueuesStatsResponse,
  AnnotationQueueUpdateRequest,
} from '../../schemas/annotation/annotation-queue.ts'
import { ProjectOnly } from '../../schemas/primitives.ts'
import type { Stores } from '../../store/api/stores.ts'
import { recordBefore } from '../access/audit.ts'

export type AnnotationRoutesOptions = Pick<Stores, 'annotation'> & Pick<Clock, 'nowUs'>
type DeleteOptions = AnnotationRoutesOptions & Pick<Stores, 'audit'>

const tags = ['annotation']

export async function annotationRoutes(app: App, options: DeleteOptions): Promise<void> {
  addCreate(app, options)
  addQuery(app, options)
  addStats(app, options)
  addRead(app, options)
  addUpdate(app, options)
  addDelete(app, options)
}

function addCreate(app: App, { annotation, nowUs }: AnnotationRoutesOptions): void {
  addProjectWrite(
    app,
    '/annotation_queues',
    {
      tags,
      operationId: 'createAnnotationQueue',
      summary: 'Create a queue of calls or spans for people to annotate.',
      body: AnnotationQueueCreateRequest,
      response: AnnotationQueueCreateResponse,
    },
    async ({ project_id, name, description, scorer_refs, queue_type }, { svc_user_id }) => {
      const [id, created_at_us] = [newId(), nowUs()]
      await annotation.createQueue({
        id,
        project_id,
        name,
        description: description ?? '',
        scorer_refs_json: JSON.stringify(scorer_refs),
        queue_type: queue_type ?? 'call',
        created_by: svc_user_id,
        created_at_us,
        updated_at_us: created_at_us,
        deleted_at_us: null,
      })
      return { id }
    },
  )
}

function addQuery(app: App, { annotation }: AnnotationRoutesOptions): void {
  app.post(
    '/annotation_queues/query',
    {
      schema: {
        tags,
        operationId: 'queryAnnotationQueues',
        summary: 'List annotation queues, one JSON object per line.',
        body: AnnotationQueuesQueryRequest,
        response: { 200: linesResponse('A queue a line.', AnnotationQueueSchema) },
      },
    },
    async (request, reply) => {
      const { project_id, ...query } = request.body
      requireAccess(request.principal, 'traces:read', project_id)
      const queues = await annotation.listQueues(openReadCaller(request, reply, project_id))
      return sendLines(reply, renderLines(pageQueues(queues, query), renderQueue))
    },
  )
}

function addStats(app: App, { annotation }: AnnotationRoutesOptions): void {
  addProjectRead(
    app,
    '/annotation_queues/stats',
    {
      tags,
      operationId: 'sumAnnotationQueues',
      summary: 'Count the items of queues, and those that are done.',
      body: AnnotationQueuesStatsRequest,
      response: AnnotationQueuesStatsResponse,
    },
    async ({ queue_ids }, caller) => ({ stats: await annotation.sumQueues(queue_ids, caller) }),
  )
}

function addRead(app: App, { annotation }: AnnotationRoutesOptions): void {
  app.get(
    '/annotation_queues/:queue_id',
    {
      schema: {
        tags,
        operationId: 'readAnnotationQueue',
        summary: 'Read an annotation queue.',
        params: AnnotationQueuePath,
        querystring: ProjectOnly,
        response: { 200: AnnotationQueueResponse },
      },
    },
    async (request) => {
      const { project_id } = request.query
      requireAccess(request.principal, 'traces:read', project_id)
      const queue = await annotation.findQueue({ project_id, id: request.params.queue_id })
      if (queue === null) throw new ApiError('annotation_queue_not_found', { param: 'queue_id' })
      return { queue: renderQueue(queue) }
    },
  )
}

function addUpdate(app: App, { annotation, nowUs }: AnnotationRoutesOptions): void {
  app.put(
    '/annotation_queues/:queue_id',
    {
      schema: {
        tags,
        operationId: 'updateAnnotationQueue',
        summary: 'Change the name, description or scorers of an annotation queue.',
        params: AnnotationQueuePath,
        body: AnnotationQueueUpdateRequest,
        response: { 200: AnnotationQueueResponse },
      },
    },
    async (request) => {
      const { project_id, name, description, scorer_refs } = request.body
      requireAccess(request.principal, 'traces:write', project_id)
      const queue = await annotation.changeQueue({
        project_id,
        id: request.params.queue_id,
        updated_at_us: nowUs(),
        name: name ?? null,
        description: description ?? null,
        scorer_refs_json: scorer_refs ? JSON.stringify(scorer_refs) : null,
      })
      return { queue: renderQueue(queue) }
    },
  )
}

function addDelete(app: App, { audit, annotation, nowUs }: DeleteOptions): void {
  app.delete(
    '/annotation_queues/:queue_id',
    {
      schema: {
        tags,
        operationId: 'deleteAnnotationQueue',
        summary: 'Delete an annotation queue; its calls and feedback stay.',
        params: AnnotationQueuePath,
        querystring: ProjectOnly,
        response: { 200: AnnotationQueueResponse },
      },
    },
    async (request) => {
      const { project_id } = request.query
      requireAccess(request.principal, 'traces:write', project_id)
      const { queue_id: id } = request.params
      await recordBefore(audit, request, { action: 'queue.delete', project_id, subject_id: id })
      const queue = await annotation.deleteQueue({ project_id, id, deleted_at_us: nowUs() })
      return { queue: renderQueue(queue) }
    },
  )
}
