/**
 * Annotation queues: create, list, read, update, delete, count.
 *
 * Spec: §2.2 queue_id (queues are an addition). Choice: the routes of the public tracing clients.
 */
import { requireAccess } from '../../domain/access/permissions.ts'
import {
  type AnnotationQueue,
  pageQueues,
  renderQueue,
} from '../../domain/annotation/annotation-queue.ts'
import { hasRule } from '../../domain/annotation/queue-rules.ts'
import { resolveCallsSelection } from '../../domain/calls/calls-query.ts'
import type { Clock } from '../../domain/time/clock.ts'
import { ApiError, refuseField } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { originOf } from '../../http/audit-origin.ts'
import { linesResponse } from '../../http/document/responses.ts'
import { newId } from '../../http/new-id.ts'
import { addProjectRead, addProjectWrite } from '../../http/project-routes.ts'
import { renderLines, sendLines } from '../../http/stream/json-lines.ts'
import { openReadCaller } from '../../http/stream/read-caller.ts'
import {
  AnnotationQueueCreateRequest,
  AnnotationQueueCreateResponse,
  AnnotationQueuePath,
  AnnotationQueueReadResponse,
  AnnotationQueueResponse,
  AnnotationQueueSchema,
  AnnotationQueuesQueryRequest,
  AnnotationQueuesStatsRequest,
  AnnotationQueuesStatsResponse,
  AnnotationQueueUpdateRequest,
} from '../../schemas/annotation/annotation-queue.ts'
import type { QueueRules } from '../../schemas/annotation/queue-rules.ts'
import { ProjectOnly } from '../../schemas/primitives.ts'
import type { QueueName } from '../../store/api/annotation/annotation-queues.ts'
import type { Stores } from '../../store/api/stores.ts'
import { recordBefore } from '../access/audit.ts'

export type AnnotationRoutesOptions = Pick<Stores, 'annotation'> & Pick<Clock, 'nowUs'>
type DeleteOptions = AnnotationRoutesOptions & Pick<Stores, 'audit'>

interface QueueRoutesOptions extends DeleteOptions, Pick<Stores, 'callFeed' | 'evaluators'> {
  readonly refScheme: string
}

const tags = ['annotation']
/** The query of rules may name any number. */
const config = { body: 'exact' } as const

export async function annotationRoutes(app: App, options: QueueRoutesOptions): Promise<void> {
  addCreate(app, options)
  addQuery(app, options)
  addStats(app, options)
  addRead(app, options)
  addUpdate(app, options)
  addDelete(app, options)
}

function addCreate(app: App, options: QueueRoutesOptions): void {
  const { annotation, nowUs } = options
  addProjectWrite(
    app,
    '/annotation_queues',
    {
      config,
      tags,
      operationId: 'createAnnotationQueue',
      summary: 'Create a queue of calls or spans for people to annotate.',
      body: AnnotationQueueCreateRequest,
      response: AnnotationQueueCreateResponse,
    },
    async (body, principal, request) => {
      const { project_id, name, description, scorer_refs } = body
      const queue_type = body.queue_type ?? 'call'
      const [id, created_at_us] = [newId(), nowUs()]
      const rules = body.rules && hasRule(body.rules) ? body.rules : null
      if (rules !== null) requireUsable(rules, { project_id, queue_type }, options)
      const queue = {
        id,
        project_id,
        name,
        description: description ?? '',
        scorer_refs_json: JSON.stringify(scorer_refs),
        queue_type,
        created_by: principal.svc_user_id,
        created_at_us,
        updated_at_us: created_at_us,
        deleted_at_us: null,
        rules_json: rules && JSON.stringify(rules),
        rules_position: rules === null ? 0 : await options.callFeed.findEnd(),
      }
      await annotation.createQueue(queue, originOf(request, principal))
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

function addRead(app: App, { annotation, evaluators, nowUs }: QueueRoutesOptions): void {
  app.get(
    '/annotation_queues/:queue_id',
    {
      schema: {
        tags,
        operationId: 'readAnnotationQueue',
        summary: 'Read an annotation queue.',
        params: AnnotationQueuePath,
        querystring: ProjectOnly,
        response: { 200: AnnotationQueueReadResponse },
      },
    },
    async (request) => {
      const { project_id } = request.query
      requireAccess(request.principal, 'traces:read', project_id)
      const queue = await requireQueue({ project_id, id: request.params.queue_id }, annotation)
      const { scored: added, dropped, waiting } = await evaluators.countWork(queue.id, nowUs())
      return { queue: renderQueue(queue), rules_work: { added, dropped, waiting } }
    },
  )
}

function addUpdate(app: App, options: QueueRoutesOptions): void {
  const { annotation, nowUs } = options
  app.put(
    '/annotation_queues/:queue_id',
    {
      config,
      schema: {
        tags,
        operationId: 'updateAnnotationQueue',
        summary: 'Change the name, description, scorers or rules of an annotation queue.',
        params: AnnotationQueuePath,
        body: AnnotationQueueUpdateRequest,
        response: { 200: AnnotationQueueResponse },
      },
    },
    async (request) => {
      const { project_id, name, description, scorer_refs, rules } = request.body
      const caller = requireAccess(request.principal, 'traces:write', project_id)
      const named = { project_id, id: request.params.queue_id }
      if (rules) await requireRules(rules, named, options)
      const change = {
        ...named,
        updated_at_us: nowUs(),
        name: name ?? null,
        description: description ?? null,
        scorer_refs_json: scorer_refs ? JSON.stringify(scorer_refs) : null,
        rules_json: rules ? JSON.stringify(rules) : null,
        rules_position: rules ? await options.callFeed.findEnd() : 0,
      }
      const queue = await annotation.changeQueue(change, originOf(request, caller))
      return { queue: renderQueue(queue) }
    },
  )
}

/** @throws ApiError annotation_queue_not_found */
export async function requireQueue(
  name: QueueName,
  annotation: Stores['annotation'],
): Promise<AnnotationQueue> {
  const queue = await annotation.findQueue(name)
  if (queue !== null) return queue
  throw new ApiError('annotation_queue_not_found', { param: 'queue_id' })
}

/** @throws ApiError validation_failed, annotation_queue_not_found */
async function requireRules(
  rules: QueueRules,
  { project_id, id }: QueueName,
  options: QueueRoutesOptions,
): Promise<void> {
  const queue = await requireQueue({ project_id, id }, options.annotation)
  if (hasRule(rules)) requireUsable(rules, queue, options)
}

/** Checks what a schema cannot. @throws ApiError validation_failed */
function requireUsable(
  { filter, query }: QueueRules,
  { project_id, queue_type }: Pick<AnnotationQueue, 'project_id' | 'queue_type'>,
  { refScheme }: QueueRoutesOptions,
): void {
  if (queue_type === 'span') refuseField('rules', 'go with a queue of calls, not of spans')
  resolveCallsSelection({ project_id, filter, query }, { refScheme, projects: [project_id] })
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
