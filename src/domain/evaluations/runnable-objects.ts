/** Published objects that the server can run because they hold no code: evaluations, models and scorers. Pure. */
import { z } from 'zod'
import { refuseField } from '../../errors.ts'
import { SCORERS_MAX } from '../../schemas/evaluations/server-evaluation.ts'
import { Scorer } from '../../schemas/evaluators/scorer.ts'
import { EVALUATION_OPS, PREDICT_AND_SCORE_OP } from '../calls/evaluations/evaluation-calls.ts'
import { toPromptMessages } from '../chat/completion-create.ts'
import { isObject } from '../json/is-object.ts'
import { parseLossless, renderJson } from '../json/json-text.ts'
import { parseRef } from '../objects/refs.ts'

const SUMMARIZE_OP = 'Evaluation.summarize'
/** Limit: trials of a row. */
const TRIALS_MAX = 100

/** Fields by which the SDKs say what an object is. */
const OBJECT_FIELDS: readonly string[] = [
  '_type',
  '_class_name',
  '_bases',
  'name',
  'description',
  'ref',
]

const EvaluationFields = z.object({
  dataset: z.string(),
  scorers: z.array(z.string()).max(SCORERS_MAX).nullish(),
  trials: z.int().min(1).max(TRIALS_MAX).nullish(),
  preprocess_model_input: z.null().optional(),
  evaluate: z.unknown().optional(),
  predict_and_score: z.unknown().optional(),
  summarize: z.unknown().optional(),
})

/** What an evaluation names. */
interface EvaluationObject {
  readonly dataset_ref: string
  readonly scorer_refs: readonly string[]
  readonly trials: number
  /** Names of the calls: the refs of the ops that the SDK published with it, by which it finds them. */
  readonly ops: EvaluationOps
}

export interface EvaluationOps {
  readonly evaluate: string
  readonly predict_and_score: string
  readonly summarize: string
}

/** @throws ApiError validation_failed, of what the server cannot run */
export function toEvaluation(value: unknown): EvaluationObject {
  const parsed = EvaluationFields.safeParse(value)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    refuseField(
      'evaluation_ref',
      `must name an evaluation whose dataset and scorers are refs, without code: ${issue?.path.join('.')} ${issue?.message}`,
    )
  }
  const { dataset, scorers, trials, ...named } = parsed.data
  const ops = {
    evaluate: toOp(named.evaluate, EVALUATION_OPS.evaluation_run),
    predict_and_score: toOp(named.predict_and_score, PREDICT_AND_SCORE_OP),
    summarize: toOp(named.summarize, SUMMARIZE_OP),
  }
  return { dataset_ref: dataset, scorer_refs: scorers ?? [], trials: trials ?? 1, ops }
}

/** @returns the ref if it is one of the op of that name; otherwise the name */
function toOp(ref: unknown, name: string): string {
  const parsed = typeof ref === 'string' ? parseRef(ref) : null
  return parsed?.kind === 'op' && parsed.name === name ? String(ref) : name
}

const Message = z.looseObject({ role: z.string() })
const number = z.number().nullish()
const DefaultParams = z.strictObject({
  _type: z.unknown().optional(),
  _class_name: z.unknown().optional(),
  _bases: z.unknown().optional(),
  messages_template: z.array(Message).nullish(),
  prompt: z.string().nullish(),
  temperature: number,
  top_p: number,
  max_tokens: number,
  presence_penalty: number,
  frequency_penalty: number,
  stop: z.array(z.string()).nullish(),
  n_times: z.literal(1).nullish(),
  functions: z.array(z.unknown()).max(0).nullish(),
  response_format: z.enum(['json_object', 'json_schema', 'text']).nullish(),
})
const ModelFields = z.object({
  llm_model_id: z
    .string()
    .refine((name) => !name.includes(':///'), 'must be the name of a served model'),
  default_params: DefaultParams.nullish(),
})

export interface ModelObject {
  /** Names of the model, the one to try first first. */
  readonly names: readonly string[]
  /** Ref of a published prompt, which goes before the template. */
  readonly prompt_ref: string | null
  readonly messages: readonly unknown[]
  /** Fields of the chat. */
  readonly params: Readonly<Record<string, unknown>>
}

/**
 * Reads an LLMStructuredCompletionModel.
 *
 * @param param - the field that names it
 * @throws ApiError validation_failed
 */
export function toModel(value: unknown, param: string): ModelObject {
  const parsed = ModelFields.safeParse(plain(value))
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    refuseField(
      param,
      `must name an LLMStructuredCompletionModel, the kind of model that the server runs: ${issue?.path.join('.')} ${issue?.message}`,
    )
  }
  const { llm_model_id: name, default_params } = parsed.data
  const { messages_template, prompt, response_format, ...rest } = default_params ?? {}
  const { n_times: _n, functions: _f, _type, _class_name, _bases, ...params } = rest
  const named = Object.entries(params).filter(([, given]) => given !== null && given !== undefined)
  const format = response_format ? { response_format: { type: response_format } } : {}
  const short = name.slice(name.indexOf('/') + 1)
  return {
    names: short === name ? [name] : [name, short],
    prompt_ref: prompt ?? null,
    messages: prompt ? [] : (messages_template ?? []),
    params: { ...Object.fromEntries(named), ...format },
  }
}

const SdkJudge = z.object({
  model: z.unknown(),
  scoring_prompt: z.unknown(),
  enable_image_input_scoring: z.literal(false).nullish(),
  enable_audio_input_scoring: z.literal(false).nullish(),
  enable_video_input_scoring: z.literal(false).nullish(),
  column_map: z.null().optional(),
})

/**
 * Reads a scorer: the fields of one, or an LLMAsAJudgeScorer of the SDKs, whose prompt has the fields of the row and the
 * output as variables.
 *
 * @param param - the field that names it
 * @throws ApiError validation_failed
 */
export function toScorer(value: unknown, param: string): Scorer {
  const object = parseLossless(renderJson(value))
  const isJudge = isObject(object) && object._class_name === 'LLMAsAJudgeScorer'
  const given = isJudge ? toJudge(object, param) : withoutMarks(object)
  const parsed = Scorer.safeParse(given)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  refuseField(
    param,
    `must name a scorer without code, with kind rule, judge or webhook, or an LLMAsAJudgeScorer: ${issue?.path.join('.')} ${issue?.message}`,
  )
}

function toJudge(object: Readonly<Record<string, unknown>>, param: string): object {
  const parsed = SdkJudge.safeParse(object)
  if (!parsed.success) refuseField(param, 'must name a judge of texts, without a column map')
  const { model, scoring_prompt } = parsed.data
  const { names, params } = toModel(model, param)
  const messages =
    typeof scoring_prompt === 'string'
      ? toPromptMessages({ content: scoring_prompt })
      : toPromptMessages(scoring_prompt)
  const { max_tokens, temperature } = params
  return {
    kind: 'judge',
    model: names.at(-1),
    messages: messages ?? [],
    variables: variablesIn(messages ?? []),
    // The prompt says which members it wants.
    output_schema: { type: 'object' },
    ...(max_tokens === undefined ? {} : { max_tokens }),
    ...(temperature === undefined ? {} : { temperature }),
  }
}

/** The paths of variables in a prompt of the SDKs: `output`, and fields of the row. */
function variablesIn(messages: readonly unknown[]): Readonly<Record<string, string>> {
  const names = JSON.stringify(messages).matchAll(/\{(\w+)\}/g)
  return Object.fromEntries(
    [...names].map(([, name = '']) => [name, name === 'output' ? '$.output' : `$.inputs.${name}`]),
  )
}

function withoutMarks(value: unknown): unknown {
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([name]) => !OBJECT_FIELDS.includes(name)))
}

/** Returns a value with plain numbers, which schemas expect. */
function plain(value: unknown): unknown {
  return JSON.parse(renderJson(value))
}
