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

/** What marks a call as one of a kind, with what it is about. */
export function marksOf(kind: EvaluationCallKind, about: object): JsonObject {
  return { weave: { [kind]: 'true', ...about } }
}

function readMarks(call: StoredCall): Readonly<Record<string, unknown>> {
  return objectOrEmpty(call.attributes.weave)
}

export function isEvaluationCall(call: StoredCall, kind: EvaluationCallKind): boolean {
  return readMarks(call)[kind] === 'true'
}

/** @throws ApiError call_not_found when it is no call of the kind */
export function requireEvaluationCall(
  call: StoredCall | null,
  kind: EvaluationCallKind,
  param: string,
): StoredCall {
  if (call !== null && isEvaluationCall(call, kind)) return call
  throw new ApiError('call_not_found', { param })
}

export function renderRun(call: StoredCall) {
  const marks = readMarks(call)
  const { ended_at_us } = call
  const status = ended_at_us === null ? 'running' : call.exception === null ? 'success' : 'error'
  return {
    evaluation_run_id: call.id,
    evaluation: textOrEmpty(marks.evaluation),
    model: textOrEmpty(marks.model),
    source_evaluation_run_id: textOrNull(marks.source_evaluation_run_id),
    status,
    started_at: renderTimestamp(call.started_at_us),
    finished_at: renderTimestampOrNull(ended_at_us),
    summary: call.summary,
  }
}

export function renderPrediction(call: StoredCall) {
  const marks = readMarks(call)
  return {
    prediction_id: call.id,
    model: textOrEmpty(marks.model),
    inputs: objectOrEmpty(call.inputs.inputs),
    output: call.output,
    evaluation_run_id: textOrNull(marks.evaluation_run_id),
    svc_user_id: call.svc_user_id,
  }
}

export function renderScore(call: StoredCall) {
  const marks = readMarks(call)
  return {
    score_id: call.id,
    scorer: textOrEmpty(marks.scorer),
    value: call.output,
    evaluation_run_id: textOrNull(marks.evaluation_run_id),
    svc_user_id: call.svc_user_id,
  }
}

/** What the output of the call above a prediction calls the value of a score. */
export function scorerNameOf(score: StoredCall): string {
  const scorer = textOrEmpty(readMarks(score).scorer)
  return parseRef(scorer)?.name ?? scorer
}

/** The output of the call above a prediction, out of what it and its scores gave; those by scorerNameOf. */
export function predictAndScoreOutput(
  { started_at_us, ended_at_us, output }: StoredCall,
  scores: ReadonlyMap<string, unknown>,
) {
  const seconds = ((ended_at_us ?? started_at_us) - started_at_us) / 1_000_000
  return { output, scores: Object.fromEntries(scores), model_latency: { mean: seconds } }
}

/** Means over outputs of predictAndScoreOutput: of each scorer, and of the outputs themselves, that gave numbers. */
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

/** A call out of a list, with its bodies parsed. */
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
