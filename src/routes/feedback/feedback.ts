/** Feedback routes. Spec: §4.1, §4.2; `/feedback/batch/create` and `/feedback/replace` are additions. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import { requireAccess, requireScope } from '../../domain/access/permissions.ts'
import type { AnnotationQueue } from '../../domain/annotation/annotation-queue.ts'
import { requireFeedbackRules } from '../../domain/feedback/feedback-rules.ts'
import { resolveFeedbackSample } from '../../domain/feedback/feedback-sample.ts'
import {
  type Feedback,
  renderFeedback,
  resolveFeedback,
} from '../../domain/feedback/new-feedback.ts'
import { requireVendorRules } from '../../domain/feedback/vendor-rules.ts'
import type { Clock } from '../../domain/time/clock.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { newId } from '../../http/new-id.ts'
import { openReadCaller } from '../../http/stream/read-caller.ts'
import { type BatchItemError, toRefusedItem } from '../../schemas/batch-item-error.ts'
import {
  FeedbackCreateRequest,
  FeedbackCreateResponse,
  FeedbackPayloadSchemaRequest,
  FeedbackPayloadSchemaResponse,
  LooseFeedbackCreateRequest,
} from '../../schemas/feedback/feedback.ts'
import {
  FeedbackBatchCreateRequest,
  FeedbackBatchCreateResponse,
  FeedbackReplaceRequest,
  LooseFeedbackReplaceRequest,
} from '../../schemas/feedback/feedback-query.ts'
import type { Stores } from '../../store/api/stores.ts'

interface FeedbackRoutesOptions
  extends Pick<Stores, 'annotation' | 'feedback'>,
    Pick<Clock, 'nowUs'> {
  readonly payloadBytesMax: number
}

const config = { body: 'exact' } as const
/**
 * Limit: items of a batch that are processed before other requests get a turn of the event loop, a few milliseconds.
 */
const PAUSE_ITEMS = 64

export async function feedbackRoutes(app: App, options: FeedbackRoutesOptions): Promise<void> {
  addCreate(app, options)
  addBatchCreate(app, options)
  addReplace(app, options)
  addPayloadSchema(app, options)
}

/** The schemas of a scope: strict about the kinds of refs, or not. */
function schemasOf(app: App) {
  return app.naming.isStrict
    ? { create: FeedbackCreateRequest, replace: FeedbackReplaceRequest }
    : { create: LooseFeedbackCreateRequest, replace: LooseFeedbackReplaceRequest }
}

/**
 * Returns a function that converts a validated body to the feedback to store; it reads each annotation queue of the
 * request once.
 *
 * Spec: §2.2 queue_id. Choice: a queue that is unknown, deleted or of another project is refused, as the vendor does.
 */
function openResolver(
  app: App,
  { principal }: FastifyRequest,
  { annotation, payloadBytesMax, nowUs }: FeedbackRoutesOptions,
) {
  const queues = new Map<string, Promise<AnnotationQueue | null>>()

  async function requireQueue(project_id: string, id: string): Promise<void> {
    const name = JSON.stringify([project_id, id])
    const queue = queues.get(name) ?? annotation.findQueue({ project_id, id })
    queues.set(name, queue)
    if ((await queue) === null) {
      throw new ApiError('annotation_queue_not_found', { param: 'queue_id' })
    }
  }

  /** @throws ApiError */
  return async (body: FeedbackCreateRequest): Promise<Feedback> => {
    const { project_id, queue_id } = body
    const { svc_user_id } = requireAccess(principal, 'traces:write', project_id)
    requireFeedbackRules(body)
    if (!app.naming.isStrict) requireVendorRules(body)
    if ((queue_id ?? null) !== null) await requireQueue(project_id, queue_id as string)
    const defaults = { id: newId(), svc_user_id, created_at_us: nowUs() }
    return resolveFeedback(body, defaults, payloadBytesMax)
  }
}

function addCreate(app: App, options: FeedbackRoutesOptions): void {
  app.post(
    '/feedback/create',
    {
      config,
      schema: {
        tags: ['feedback'],
        operationId: 'createFeedback',
        summary: 'Store feedback on an object; answered after the durable commit.',
        body: schemasOf(app).create,
        response: { 200: FeedbackCreateResponse },
      },
    },
    async (request) => {
      const created = await openResolver(app, request, options)(request.body)
      return renderFeedback(await options.feedback.createFeedback(created))
    },
  )
}

function addBatchCreate(app: App, options: FeedbackRoutesOptions): void {
  const { create } = schemasOf(app)
  app.post(
    '/feedback/batch/create',
    {
      config,
      schema: {
        tags: ['feedback'],
        operationId: 'createFeedbackBatch',
        summary:
          'Store feedback in one commit; an invalid item fails alone (addition to the spec).',
        body: FeedbackBatchCreateRequest,
        response: { 200: FeedbackBatchCreateResponse },
      },
    },
    async (request) => {
      requireScope(request.principal, 'traces:write')
      const resolve = openResolver(app, request, options)
      const items: (Feedback | ApiError)[] = []
      for (const item of request.body.batch) {
        if (items.length % PAUSE_ITEMS === PAUSE_ITEMS - 1) await nextTurn()
        items.push(
          await itemOrError(async () =>
            resolve(app.naming.parse<FeedbackCreateRequest>(create, item)),
          ),
        )
      }
      const good = items.filter((item): item is Feedback => !(item instanceof ApiError))
      const stored = await options.feedback.createFeedbackBatch(good)
      return renderBatch(items, stored)
    },
  )
}

async function itemOrError(make: () => Promise<Feedback>): Promise<Feedback | ApiError> {
  try {
    return await make()
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
}

/**
 * @param items - of the request, or the errors of those that cannot be stored
 * @param stored - the results of the others, in their order
 */
function renderBatch(
  items: readonly (Feedback | ApiError)[],
  stored: readonly (Feedback | ApiError)[],
) {
  const errors: BatchItemError[] = []
  let at = 0
  const res = items.map((item, index) => {
    const result = item instanceof ApiError ? item : (stored[at++] ?? item)
    if (!(result instanceof ApiError)) return renderFeedback(result)
    const refused = toRefusedItem(index, result)
    errors.push({ index, ...refused.error })
    return refused
  })
  return { res, errors }
}

function addReplace(app: App, options: FeedbackRoutesOptions): void {
  app.post(
    '/feedback/replace',
    {
      config,
      schema: {
        tags: ['feedback'],
        operationId: 'replaceFeedback',
        summary: 'Replace feedback (addition to the spec).',
        body: schemasOf(app).replace,
        response: { 200: FeedbackCreateResponse },
      },
    },
    async (request) => {
      const { feedback_id, ...body } = request.body
      const created = await openResolver(app, request, options)(body)
      const { createFeedback, replaceFeedback } = options.feedback
      const stored = await replaceFeedback(feedback_id, created).catch((error) => {
        const isGone = error instanceof ApiError && error.code === 'feedback_not_found'
        // The vendor's clients send it nevertheless.
        if (!isGone || app.naming.isStrict) throw error
        return createFeedback(created)
      })
      return renderFeedback(stored)
    },
  )
}

function addPayloadSchema(app: App, { feedback, nowUs }: FeedbackRoutesOptions): void {
  app.post(
    '/feedback/payload_schema',
    {
      schema: {
        tags: ['feedback'],
        operationId: 'getFeedbackPayloadSchema',
        summary: 'List the leaf paths of the payloads in a time window, with their types.',
        description:
          'Reads the newest payload of each trigger_ref; feedback without one counts as one. The header `x-weft-paths-incomplete: true` means that some were left out at a limit on paths or bytes.',
        body: FeedbackPayloadSchemaRequest,
        response: { 200: FeedbackPayloadSchemaResponse },
      },
    },
    async (request, reply) => {
      const { project_id } = request.body
      requireAccess(request.principal, 'traces:read', project_id)
      const sample = resolveFeedbackSample(request.body, nowUs())
      const caller = openReadCaller(request, reply, project_id)
      const { paths, is_complete } = await feedback.findPayloadPaths(sample, caller)
      if (!is_complete) reply.header('x-weft-paths-incomplete', 'true')
      return { paths: [...paths] }
    },
  )
}
