/**
 * Runs of evaluations, predictions and scores as calls: a run is a root; a prediction of a run lies with its scores
 * below a call that is open until the prediction is finished. Pure.
 *
 * Spec: §2.5 (what attributes hold is not given). Choice: marks below `attributes.weave`, as the public clients'
 * server.
 */
import { ApiError } from '../../../errors.ts'
import type { JsonObject } from '../../../schemas/primitives.ts'
import { renderTimestamp, renderTimestampOrNull } from '../../../schemas/timestamp.ts'
import { isObject } from '../../json/is-object.ts'
import { parseLossless, toDouble } from '../../json/json-text.ts'
import { objectOrEmpty, textOrEmpty, textOrNull } from '../../json/json-values.ts'
import { parseRef } from '../../objects/refs.ts'
import { addToSum, createSum, type ExactSum, meanOf } from '../../stats/exact-sum.ts'
import type { CallTexts, StoredCall } from '../call-view.ts'

export type EvaluationCallKind = 'evaluation_run' | 'prediction' | 'score'

/** Op names of the calls of each kind; they stand for code that the server does not have. */
export const EVALUATION_OPS: Readonly<Record<EvaluationCallKind, string>> = {
  evaluation_run: 'Evaluation.evaluate',
  prediction: 'Model.predict',
  score: 'Scorer.score',
}
export const PREDICT_AND_SCORE_OP = 'Evaluation.predict_and_score'
/** Op names of trials; the second is that of `Evaluation` in the npm SDK (weave 0.11). */
const TRIAL_OPS: ReadonlySet<string> = new Set([PREDICT_AND_SCORE_OP, 'Evaluation.predictAndScore'])

/** Returns the name of an op that is given as a ref or as a name. */
export function nameOfOp(op: string): string {
  return parseRef(op)?.name ?? op
}

/** Whether a call is a trial: one example that a model predicted and scorers judged. */
export function isTrial({ op_name }: Pick<StoredCall, 'op_name'>): boolean {
  return TRIAL_OPS.has(nameOfOp(op_name))
}

/** Returns the attributes that mark a call as one of a kind, with its subject. */
export function marksOf(kind: EvaluationCallKind, about: object): JsonObject {
  return { weave: { [kind]: 'true', ...about } }
}

function readMarks(call: StoredCall): Readonly<Record<string, unknown>> {
  return objectOrEmpty(call.attributes.weave)
}

/** Whether a call was recorded by the routes of a kind. */
export function isEvaluationCall(call: StoredCall, kind: EvaluationCallKind): boolean {
  return readMarks(call)[kind] === 'true'
}

/** Whether a call below a trial judged the prediction, by its marks: of these routes, or of the SDKs' loggers. */
export function isMarkedScore({ attributes }: Pick<StoredCall, 'attributes'>): boolean {
  const { score } = objectOrEmpty(attributes.weave)
  return score === 'true' || Boolean(objectOrEmpty(attributes._weave_eval_meta).score)
}

/** The fields of a call below a trial that show whether it is the model's. */
interface TrialPart {
  readonly op_name: string
  /** The input `self`. */
  readonly self: unknown
  readonly isScore: boolean
}

/** Whether a call below a trial is the model's. A model is an object or an op; its own op may have any name. */
export function isPredict(model: unknown, { op_name, self, isScore }: TrialPart): boolean {
  if (isScore) return false
  if (typeof model === 'string' && (self === model || op_name === model)) return true
  return /predict|invoke/.test(nameOfOp(op_name).toLowerCase())
}

/** A call of a kind, with its parent as far as that is needed to recognise and show it. */
export interface EvaluationCall {
  readonly call: StoredCall
  readonly above: StoredCall | null
}

/**
 * Whether a call is of a kind: recorded by the routes, or by the SDKs, whose predictions and scores are children of
 * trials.
 */
export function isOfKind({ call, above }: EvaluationCall, kind: EvaluationCallKind): boolean {
  if (isEvaluationCall(call, kind)) return true
  if (kind === 'evaluation_run') return nameOfOp(call.op_name) === EVALUATION_OPS.evaluation_run
  if (above === null || !isTrial(above)) return false
  const part = { op_name: call.op_name, self: call.inputs.self, isScore: isMarkedScore(call) }
  return isPredict(above.inputs.model, part) === (kind === 'prediction')
}

/** @throws ApiError call_not_found when the routes did not record it as one of the kind */
export function requireEvaluationCall(
  call: StoredCall | null,
  kind: EvaluationCallKind,
  param: string,
): StoredCall {
  if (call !== null && isEvaluationCall(call, kind)) return call
  throw new ApiError('call_not_found', { param })
}

export function renderRun({ call }: EvaluationCall) {
  const marks = readMarks(call)
  const { ended_at_us } = call
  const status = ended_at_us === null ? 'running' : call.exception === null ? 'success' : 'error'
  return {
    evaluation_run_id: call.id,
    evaluation: textOrEmpty(marks.evaluation ?? call.inputs.self),
    model: textOrEmpty(marks.model ?? call.inputs.model),
    source_evaluation_run_id: textOrNull(marks.source_evaluation_run_id),
    status,
    started_at: renderTimestamp(call.started_at_us),
    finished_at: renderTimestampOrNull(ended_at_us),
    summary: call.summary,
  }
}

export function renderPrediction({ call, above }: EvaluationCall) {
  const { model } = readMarks(call)
  return {
    prediction_id: call.id,
    model: textOrEmpty(model ?? call.inputs.self ?? above?.inputs.model),
    inputs: predictionInputs(call),
    output: call.output,
    evaluation_run_id: runIdOf(call, above),
    svc_user_id: call.svc_user_id,
  }
}

export function renderScore({ call, above }: EvaluationCall) {
  const { scorer } = readMarks(call)
  return {
    score_id: call.id,
    scorer: textOrEmpty(scorer ?? call.inputs.self ?? call.op_name),
    value: call.output,
    evaluation_run_id: runIdOf(call, above),
    svc_user_id: call.svc_user_id,
  }
}

/** The run of a prediction or a score; null outside of runs. */
export function runIdOf(call: StoredCall, above: StoredCall | null): string | null {
  const marked = textOrNull(readMarks(call).evaluation_run_id)
  return marked ?? (above !== null && isTrial(above) ? above.parent_id : null)
}

/** Returns the inputs of the model: the arguments of its op, or the one object that contains them all. */
export function predictionInputs({ inputs }: StoredCall): JsonObject {
  const { self: _self, ...given } = inputs
  const [name = '', ...more] = Object.keys(given)
  const isWhole = more.length === 0 && (name === 'inputs' || name === 'arg0')
  return isWhole && isObject(given[name]) ? (given[name] as JsonObject) : given
}

/** Returns the key of a score in the output of the call above its prediction. */
export function scorerNameOf(score: StoredCall): string {
  const scorer = textOrEmpty(readMarks(score).scorer)
  return parseRef(scorer)?.name ?? scorer
}

/**
 * Returns the output of the call above a prediction, built from the outputs of the prediction and its scores; those
 * by scorerNameOf.
 */
export function predictAndScoreOutput(
  { started_at_us, ended_at_us, output }: StoredCall,
  scores: ReadonlyMap<string, unknown>,
) {
  const seconds = ((ended_at_us ?? started_at_us) - started_at_us) / 1_000_000
  return { output, scores: Object.fromEntries(scores), model_latency: { mean: seconds } }
}

/**
 * Computes means over outputs of predictAndScoreOutput: per scorer, and over the outputs themselves, where they are
 * numbers.
 */
export function createRunOutput() {
  const sums = new Map<string, ExactSum>()

  function addValue(name: string, given: unknown): void {
    const value = toDouble(given)
    if (typeof value !== 'number') return
    const sum = sums.get(name) ?? createSum()
    sums.set(name, sum)
    addToSum(sum, value)
  }

  return {
    add(output: unknown): void {
      if (!isObject(output)) return
      addValue('output', output.output)
      for (const [name, value] of Object.entries(objectOrEmpty(output.scores))) {
        addValue(name, value)
      }
    },
    output(): Record<string, { mean: number }> {
      return Object.fromEntries([...sums].map(([name, sum]) => [name, { mean: meanOf(sum) }]))
    },
  }
}

/** Parses the bodies of a listed call. */
export function parseCall(call: CallTexts): StoredCall {
  const { attributes_json, inputs_json, output_json, summary_json, otel_dump_json, ...narrow } =
    call
  const parse = (text: string | null, none: unknown) => (text === null ? none : parseLossless(text))
  return {
    ...narrow,
    attributes: parse(attributes_json, {}) as JsonObject,
    inputs: parse(inputs_json, {}) as JsonObject,
    otel_dump: parse(otel_dump_json, null) as JsonObject | null,
    output: parse(output_json, null),
    summary: parse(summary_json, {}) as JsonObject,
  }
}
