/** Feedback routes. Spec: §4.1, §4.2. */
import { v7 as uuidv7 } from 'uuid'
import { requireFeedbackRules } from '../domain/feedback-rules.ts'
import { resolveFeedbackSample } from '../domain/feedback-sample.ts'
import { renderFeedback, resolveFeedback } from '../domain/new-feedback.ts'
import { requireAccess } from '../domain/permissions.ts'
import type { App } from '../http/app-type.ts'
import { watchClient } from '../http/client-signal.ts'
import {
  FeedbackCreateRequest,
  FeedbackCreateResponse,
  FeedbackPayloadSchemaRequest,
  FeedbackPayloadSchemaResponse,
} from '../schemas/feedback.ts'
import type { FeedbackStore } from '../store/api/feedback.ts'

export interface FeedbackRoutesOptions {
  readonly feedback: FeedbackStore
  readonly payloadBytesMax: number
  /** Microseconds since the epoch; never goes back. */
  readonly nowUs: () => number
}

export async function feedbackRoutes(
  app: App,
  { feedback, payloadBytesMax, nowUs }: FeedbackRoutesOptions,
): Promise<void> {
  app.post(
    '/feedback/create',
    {
      config: { keepsLongNumbers: true },
      schema: {
        tags: ['feedback'],
        summary: 'Store feedback about an object; the answer follows the durable commit.',
        body: FeedbackCreateRequest,
        response: { 200: FeedbackCreateResponse },
      },
    },
    async (request) => {
      const { project_id } = request.body
      const { svc_user_id } = requireAccess(request.principal, 'traces:write', project_id)
      requireFeedbackRules(request.body)
      const defaults = { id: uuidv7(), svc_user_id, created_at_us: nowUs() }
      const created = resolveFeedback(request.body, defaults, payloadBytesMax)
      return renderFeedback(await feedback.createFeedback(created))
    },
  )

  app.post(
    '/feedback/payload_schema',
    {
      schema: {
        tags: ['feedback'],
        summary: 'Leaf paths and value types of the payloads of a window.',
        description:
          'The header `x-weft-paths-incomplete: true` says that a limit on paths or bytes left some out.',
        body: FeedbackPayloadSchemaRequest,
        response: { 200: FeedbackPayloadSchemaResponse },
      },
    },
    async (request, reply) => {
      requireAccess(request.principal, 'traces:read', request.body.project_id)
      const sample = resolveFeedbackSample(request.body, nowUs())
      const signal = AbortSignal.any([watchClient(reply), app.draining])
      const { paths, is_complete } = await feedback.findPayloadPaths(sample, signal)
      if (!is_complete) reply.header('x-weft-paths-incomplete', 'true')
      return { paths: [...paths] }
    },
  )
}
