/**
 * Items of annotation queues: calls or spans are added and listed, annotators claim and finish them.
 *
 * Spec: §2.2 queue_id (queues are an addition). Choice: the routes of the public tracing clients.
 */
import { requireAccess } from '../../domain/access/permissions.ts'
import { renderItem, resolveNamedCalls } from '../../domain/annotation/annotation-item.ts'
import type { App } from '../../http/app-type.ts'
import { openReadCaller } from '../../http/stream/read-caller.ts'
import {
  AnnotationItemPath,
  AnnotationItemsAddRequest,
  AnnotationItemsAddResponse,
  AnnotationItemsQueryRequest,
  AnnotationItemsQueryResponse,
  AnnotationProgressRequest,
  AnnotationProgressResponse,
} from '../../schemas/annotation/annotation-item.ts'
import { AnnotationQueuePath } from '../../schemas/annotation/annotation-queue.ts'
import { type AnnotationRoutesOptions, requireQueue } from './annotation-queues.ts'

const tags = ['annotation']

export async function annotationItemRoutes(
  app: App,
  options: AnnotationRoutesOptions,
): Promise<void> {
  addAdd(app, options)
  addQuery(app, options)
  addProgress(app, options)
}

function addAdd(app: App, { annotation, nowUs }: AnnotationRoutesOptions): void {
  app.post(
    '/annotation_queues/:queue_id/items',
    {
      schema: {
        tags,
        operationId: 'addAnnotationItems',
        summary: 'Add calls or spans to an annotation queue.',
        params: AnnotationQueuePath,
        body: AnnotationItemsAddRequest,
        response: { 200: AnnotationItemsAddResponse },
      },
    },
    async (request, reply) => {
      const { project_id, display_fields } = request.body
      const { svc_user_id } = requireAccess(request.principal, 'traces:write', project_id)
      const name = { project_id, id: request.params.queue_id }
      const queue = await requireQueue(name, annotation)
      const addition = {
        ...name,
        ...resolveNamedCalls(queue.queue_type, request.body),
        display_fields_json: JSON.stringify(display_fields ?? []),
        added_by: svc_user_id,
        created_at_us: nowUs(),
        // The vendor's clients do not expect that an unknown call fails the others.
        isStrict: app.naming.isStrict,
      }
      return annotation.addItems(addition, openReadCaller(request, reply, project_id))
    },
  )
}

function addQuery(app: App, { annotation }: AnnotationRoutesOptions): void {
  app.post(
    '/annotation_queues/:queue_id/items/query',
    {
      schema: {
        tags,
        operationId: 'queryAnnotationItems',
        summary: 'List the items of an annotation queue.',
        params: AnnotationQueuePath,
        body: AnnotationItemsQueryRequest,
        response: { 200: AnnotationItemsQueryResponse },
      },
    },
    async (request, reply) => {
      const { project_id } = request.body
      requireAccess(request.principal, 'traces:read', project_id)
      const caller = openReadCaller(request, reply, project_id)
      const listing = { ...request.body, queue_id: request.params.queue_id }
      return { items: (await annotation.listItems(listing, caller)).map(renderItem) }
    },
  )
}

function addProgress(app: App, { annotation, nowUs }: AnnotationRoutesOptions): void {
  app.post(
    '/annotation_queues/:queue_id/items/:item_id/progress',
    {
      schema: {
        tags,
        operationId: 'updateAnnotationProgress',
        summary: 'Claim, complete or skip an item of an annotation queue.',
        description:
          'The annotator is the user of the key. A claim keeps other annotators from claiming the item for an hour.',
        params: AnnotationItemPath,
        body: AnnotationProgressRequest,
        response: { 200: AnnotationProgressResponse },
      },
    },
    async (request, reply) => {
      const { project_id, annotation_state } = request.body
      const { svc_user_id } = requireAccess(request.principal, 'traces:write', project_id)
      const { queue_id: id, item_id } = request.params
      const step = {
        project_id,
        id,
        item_id,
        annotator_user_id: svc_user_id,
        annotation_state,
        updated_at_us: nowUs(),
      }
      const item = await annotation.takeStep(step, openReadCaller(request, reply, project_id))
      return { item: renderItem(item) }
    },
  )
}
