/** Where a chat would go, without asking a model. An addition to the spec. */
import type { Principal } from '../../domain/access/permissions.ts'
import { requireIntegerBounds } from '../../domain/chat/field-rules.ts'
import { ApiError } from '../../errors.ts'
import type { App } from '../../http/app-type.ts'
import { ProjectHeaders } from '../../http/project-header.ts'
import type { UpstreamState } from '../../inference/backend.ts'
import {
  type CompletionRunOptions,
  requireAnswerable,
} from '../../inference/chat/completion-run.ts'
import { type ModelChoice, requireAllowed } from '../../inference/models/model-choice.ts'
import type { ModelRegistry, ServedModel } from '../../inference/models/registry.ts'
import { ChatCompletionRequest } from '../../schemas/chat/chat-request.ts'
import { type RouteCandidate, RouteResponse } from '../../schemas/models/route.ts'
import { toModelCaller } from './model-exchange.ts'

interface DryRunRoutesOptions {
  readonly choice: ModelChoice
  readonly run: Pick<CompletionRunOptions, 'models' | 'limits'>
}

/**
 * Spec: §4.3 (not shown).
 * Choice: without addresses and numbers of requests, which are for admins; the order of the upstreams is that of this
 * moment.
 */
export async function dryRunRoutes(app: App, { choice, run }: DryRunRoutesOptions): Promise<void> {
  app.post(
    '/v1/route',
    {
      config: { invalidBody: 'openai_400', body: 'text' },
      schema: {
        tags: ['inference'],
        operationId: 'routeChatCompletion',
        summary: 'Report where a chat would go, without asking a model (addition to the spec).',
        body: ChatCompletionRequest,
        shown: { headers: ProjectHeaders, response: { 200: RouteResponse } },
      },
    },
    async (request) => {
      const { body } = request
      requireIntegerBounds(body, request.bodyText ?? '')
      const modelCaller = toModelCaller(request)
      const { caller } = modelCaller
      const asked = await choice.choose(body.model, modelCaller)
      const first = toCandidate(asked, body, () => requireAnswerable(body, asked))
      const refusal =
        first.refusal ?? findRefusal(() => run.limits.check(caller.keyId, caller.limits))
      return {
        object: 'route' as const,
        model: refusal === null ? asked.id : null,
        refusal,
        fallback_on: [...(asked.fallbackOn ?? [])],
        candidates: [first, ...listFallbacks(asked, body, { models: run.models, caller })],
      }
    },
  )
}

interface Among {
  readonly models: ModelRegistry
  readonly caller: Principal
}

function listFallbacks(
  { fallbacks }: ServedModel,
  body: ChatCompletionRequest,
  { models, caller }: Among,
): RouteCandidate[] {
  return fallbacks.map((name) => {
    const model = models.findModel(name)
    if (model === null) {
      const refusal = findRefusal(() => models.getModel(name))
      return { model: name, engine: null, refusal, upstreams: [] }
    }
    return toCandidate(model, body, () => {
      requireAllowed(model, caller)
      requireAnswerable(body, model)
    })
  })
}

function toCandidate(
  { id, backend }: ServedModel,
  { stream }: ChatCompletionRequest,
  require: () => void,
): RouteCandidate {
  const kind = stream === true ? 'stream' : 'whole'
  const upstreams = [...(backend.describeUpstreams?.(kind) ?? [])]
  upstreams.sort((left, right) => left.rank - right.rank)
  const refusal = findRefusal(require)
  return { model: id, engine: backend.kind, refusal, upstreams: upstreams.map(renderUpstream) }
}

function renderUpstream({ number, weight, failureCount, restsMs }: UpstreamState) {
  return { number, weight, failures: failureCount, rests_ms: Math.ceil(restsMs) }
}

/** Returns the error that a check throws, or null. */
function findRefusal(require: () => unknown): RouteCandidate['refusal'] {
  try {
    require()
    return null
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { code, message, param } = error
    return { code, message, param }
  }
}
