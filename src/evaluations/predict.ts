/** Predictions of models without code: completions like any other, limited, recorded and priced. */
import { toUsd } from '../domain/access/budgets.ts'
import type { Principal } from '../domain/access/permissions.ts'
import { toChatDraft } from '../domain/chat/completion-create.ts'
import { isObject } from '../domain/json/is-object.ts'
import { parseLossless, renderJson } from '../domain/json/json-text.ts'
import { textOrNull } from '../domain/json/json-values.ts'
import { ApiError } from '../errors.ts'
import {
  type BackgroundOptions,
  completeInBackground,
} from '../inference/chat/background-completion.ts'
import { requireAnswerable } from '../inference/chat/completion-run.ts'
import { COMPLETION_OP_NAME } from '../inference/chat/record/completion-recorder.ts'
import type { ModelChoice } from '../inference/models/model-choice.ts'
import { findUpstreamModel, type ServedModel } from '../inference/models/registry.ts'
import { ChatCompletionRequest } from '../schemas/chat/chat-request.ts'
import type { PlannedModel } from './plan.ts'

/** Limit: time of one prediction. */
const PREDICT_MS_MAX = 300_000

export interface PredictOptions extends BackgroundOptions {
  readonly choice: ModelChoice
}

interface Prediction {
  /** The text of the message; parsed where the model was asked for JSON. */
  readonly output: unknown
  /** Usage by model, as summaries of calls have it. */
  readonly usage: Readonly<Record<string, object>>
  /** null: not known. */
  readonly cost_usd: number | null
}

interface PredictContext {
  readonly caller: Principal
  readonly project_id: string
  readonly trace_id: string
  /** The call of the prediction; null: there is none. */
  readonly parent_id: string | null
  readonly signal: AbortSignal
}

/** @throws ApiError of the model; validation_failed for a request that it cannot take; the reason of the signal */
export async function predict(
  model: PlannedModel,
  row: Readonly<Record<string, unknown>>,
  context: PredictContext,
  options: PredictOptions,
): Promise<Prediction> {
  const served = await chooseModel(model, context, options)
  const { promptRef } = model
  const about = { ...context, promptRef }
  const made = await completeChat(served, toDraft(model, row), about, options)
  return {
    output: readOutput(model, made.response),
    usage: { [made.answering.id]: { ...made.usage, ...nameServer(made.answering), requests: 1 } },
    cost_usd: made.cost_usd,
  }
}

/** What decides the price of a model besides its name, as the completion below a prediction has it. */
function nameServer(model: ServedModel) {
  const [provider, upstream_model] = [model.backend.findProvider?.(), findUpstreamModel(model)]
  return { ...(provider ? { provider } : {}), ...(upstream_model ? { upstream_model } : {}) }
}

interface ChatContext extends PredictContext {
  readonly promptRef: string | null
}

/**
 * Completes a chat, recorded as a call.
 *
 * @returns the cost in US dollars is null where it is not known
 * @throws ApiError of the model; validation_failed for a request that it cannot take; the reason of the signal
 */
export async function completeChat(
  served: ServedModel,
  draft: Readonly<Record<string, unknown>>,
  { caller, project_id, trace_id, parent_id, promptRef, signal }: ChatContext,
  options: PredictOptions,
) {
  const { response, usage, answering, nanos } = await completeInBackground(
    {
      caller,
      project_id,
      model: served,
      request: toRequest(draft, served),
      recordAs: {
        opName: COMPLETION_OP_NAME,
        place: { traceId: trace_id, parentId: parent_id, threadId: null },
        attributes: {},
        promptRef,
      },
      timeoutMs: PREDICT_MS_MAX,
      signal,
    },
    options,
  )
  // A model without a price costs nothing in sums.
  const cost_usd = answering.backend.kind === 'tiny' ? 0 : nanos > 0 ? toUsd(nanos) : null
  return { response, usage, answering, cost_usd }
}

/** The model by its name, or by its name without that of a provider. */
export async function chooseModel(
  { names }: Pick<PlannedModel, 'names'>,
  { caller, project_id }: Pick<PredictContext, 'caller' | 'project_id'>,
  { choice }: Pick<PredictOptions, 'choice'>,
): Promise<ServedModel> {
  const asker = { caller, projectId: project_id }
  const [first, second] = names
  try {
    return await choice.choose(first, asker)
  } catch (error) {
    if (second === undefined || !(error instanceof ApiError) || error.code !== 'model_not_found') {
      throw error
    }
    return await choice.choose(second, asker)
  }
}

/** As the SDKs call such models: fields of the row fill the template, and `user_input` follows it. */
function toDraft(
  { params, messages, promptMessages }: PlannedModel,
  { user_input, ...row }: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const template_vars = Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : renderJson(value),
    ]),
  )
  const { messages: filled } = toChatDraft(
    { messages: [...messages] as never, template_vars },
    promptMessages,
    false,
  )
  return { ...params, messages: [...(filled as unknown[]), ...toMessages(user_input)] }
}

function toRequest(
  draft: Readonly<Record<string, unknown>>,
  served: ServedModel,
): ChatCompletionRequest {
  const json = JSON.parse(renderJson({ ...draft, model: served.id }))
  const parsed = ChatCompletionRequest.safeParse(json)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const message = `The request to the model is invalid: ${issue?.path.join('.')} ${issue?.message}.`
    throw new ApiError('validation_failed', { message })
  }
  requireAnswerable(parsed.data, served)
  return parsed.data
}

function toMessages(input: unknown): readonly unknown[] {
  if (input === undefined || input === null) return []
  if (Array.isArray(input)) return input
  return [isObject(input) ? input : { role: 'user', content: String(input) }]
}

/** @throws ApiError upstream_invalid_response when the model was asked for JSON and wrote none */
function readOutput(
  { params }: PlannedModel,
  { choices }: Readonly<Record<string, unknown>>,
): unknown {
  const [choice] = Array.isArray(choices) ? choices : []
  const message = isObject(choice) && isObject(choice.message) ? choice.message : {}
  const text = textOrNull(message.content)
  const format = isObject(params.response_format) ? params.response_format.type : 'text'
  if (format !== 'json_object') return text
  try {
    return parseLossless(text ?? '')
  } catch (cause) {
    throw new ApiError('upstream_invalid_response', { message: 'The model wrote no JSON.', cause })
  }
}
