/** Judges: served models that score. Each request is a completion like any other: limited, recorded and priced. */

import { toUsd } from '../../domain/access/budgets.ts'
import type { Principal } from '../../domain/access/permissions.ts'
import { toJudgeRequest } from '../../domain/evaluators/judge-prompt.ts'
import { readScore, type Score, type ScoredSubject } from '../../domain/evaluators/score.ts'
import { isObject } from '../../domain/json/is-object.ts'
import { parseObject, textOrNull } from '../../domain/json/json-values.ts'
import { layerPrices } from '../../domain/prices/project-prices.ts'
import { ApiError } from '../../errors.ts'
import { ChatCompletionRequest } from '../../schemas/chat/chat-request.ts'
import type { JudgeScorer } from '../../schemas/evaluators/scorer.ts'
import type { JsonObject } from '../../schemas/primitives.ts'
import { type BackgroundOptions, completeInBackground } from '../chat/background-completion.ts'
import { spentOn } from '../chat/budgets/spending.ts'
import { requireAnswerable } from '../chat/completion-run.ts'
import type { ModelChoice } from '../models/model-choice.ts'
import type { ServedModel } from '../models/registry.ts'
import { type Checks, scorerFailed } from './rules.ts'

/** Operation name of the calls that judges make. Evaluators score no call of this name. */
export const JUDGE_OP_NAME = 'weft.judge'

export interface JudgeOptions extends BackgroundOptions {
  readonly choice: ModelChoice
  readonly checks: Pick<Checks, 'findSchemaFault'>
}

/** Bytes of text in a token, for an estimate. */
const BYTES_PER_TOKEN = 4

/** For whom, and for what, a score is made. */
export interface ScoreContext {
  /** Project in which the calls of judges are recorded, and whose prices and budgets apply. */
  readonly project_id: string
  /** Who pays: its budgets, its limits and its models apply. */
  readonly caller: Principal
  /** Of the recorded calls of judges. */
  readonly attributes: JsonObject
  readonly signal: AbortSignal
}

/** Thrown for a response that is no score: the judge is paid all the same. */
export class UnusableResponseError extends ApiError {
  readonly cost_usd: number

  constructor(cause: ApiError, cost_usd: number) {
    super(cause.code, { message: cause.message, cause })
    this.name = 'UnusableResponseError'
    this.cost_usd = cost_usd
  }
}

/** @throws ApiError of the model; UnusableResponseError for a response that breaks the schema */
export async function judge(
  scorer: JudgeScorer,
  subject: ScoredSubject,
  context: ScoreContext,
  { choice, checks, ...background }: JudgeOptions,
): Promise<Score> {
  const { project_id, caller, attributes } = context
  const draft = toJudgeRequest(scorer, subject)
  const model = await choice.choose(scorer.model, { caller, projectId: project_id })
  const request = requireChat(draft, model)
  const { response, nanos, call_id } = await completeInBackground(
    {
      caller,
      project_id,
      model,
      request,
      recordAs: {
        opName: JUDGE_OP_NAME,
        place: { traceId: background.newId(), parentId: null, threadId: null },
        attributes,
      },
      timeoutMs: scorer.timeout_ms,
      signal: context.signal,
    },
    background,
  )
  const made = { cost_usd: toUsd(nanos), call_id }
  const output = await requireOutput(scorer, response, checks).catch((error) => {
    throw error instanceof ApiError ? new UnusableResponseError(error, made.cost_usd) : error
  })
  return readScore(output, made)
}

/** The mean of prompts in tokens of four bytes, and of longest responses. */
export async function estimateJudge(
  scorer: JudgeScorer,
  subjects: readonly ScoredSubject[],
  { project_id, caller }: Pick<ScoreContext, 'caller' | 'project_id'>,
  { choice, run, prices }: JudgeOptions,
): Promise<number | null> {
  if (subjects.length === 0) return null
  const model = await choice.choose(scorer.model, { caller, projectId: project_id })
  if (model.backend.kind === 'tiny') return 0
  const table = layerPrices(await prices.listPrices(project_id))
  const sum = subjects.reduce((nanos, subject) => {
    const bytes = Buffer.byteLength(JSON.stringify(toJudgeRequest(scorer, subject)))
    const prompt_tokens = Math.ceil(bytes / BYTES_PER_TOKEN)
    const usage = { prompt_tokens, completion_tokens: scorer.max_tokens }
    return nanos + spentOn(usage, model, table, run.nowUs())
  }, 0)
  return sum === 0 ? null : toUsd(sum) / subjects.length
}

function requireChat(draft: object, model: ServedModel): ChatCompletionRequest {
  const parsed = ChatCompletionRequest.safeParse(draft)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw scorerFailed(
      `The judge's request is invalid: ${issue?.path.join('.')} ${issue?.message}.`,
    )
  }
  requireAnswerable(parsed.data, model)
  return parsed.data
}

async function requireOutput(
  { output_schema }: JudgeScorer,
  response: Readonly<Record<string, unknown>>,
  checks: Pick<Checks, 'findSchemaFault'>,
): Promise<JsonObject> {
  const [choice] = Array.isArray(response.choices) ? response.choices : []
  const message = isObject(choice) && isObject(choice.message) ? choice.message : {}
  const output = parseObject(textOrNull(message.content) ?? '')
  if (output === null) throw scorerFailed('The response of the judge is no JSON object.')
  const fault = await checks.findSchemaFault(output_schema, output)
  if (fault !== null) {
    throw scorerFailed(`The response of the judge breaks its schema: ${fault}.`)
  }
  return output
}
