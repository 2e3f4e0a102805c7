/** Reads the trials of evaluations from their calls: example, prediction and scores. Pure. */
import type { EvalRow, EvalTrial } from '../../../schemas/calls/eval-results.ts'
import { renderJson } from '../../json/json-text.ts'
import { objectOrEmpty } from '../../json/json-values.ts'
import { digestOfJson } from '../../objects/digests.ts'
import { parseReadableRef } from '../../objects/readable-ref.ts'
import { parseRef } from '../../objects/refs.ts'
import { renderCallCosts } from '../../prices/cost.ts'
import type { PriceTable } from '../../prices/price-table.ts'
import { readUsage } from '../../usage/usage.ts'
import { identifyReporter } from '../../usage/usage-reporter.ts'
import type { StoredCall } from '../call-view.ts'
import { isMarkedScore, isPredict, isTrial, nameOfOp } from './evaluation-calls.ts'

const US_PER_S = 1_000_000
/** Limit: characters of a ref that is cached for a call. */
const REF_CHARS_MAX = 2048

/** A trial with the row and the evaluation that it belongs to. */
export interface TrialOfModel {
  readonly evaluation_call_id: string
  readonly row_digest: string
  /** The input of the model: a value, or a ref of one. */
  readonly example: unknown
  readonly model: unknown
  /** Whether the output has the scores; those of other trials are feedback. */
  readonly isScored: boolean
  readonly trial: EvalTrial
}

/** The cached fields of a call below a trial. */
export interface TrialChild {
  readonly id: string
  readonly op_name: string
  /** Name of the op, in lower case. */
  readonly name: string
  readonly isScore: boolean
  /** Ref of the called model; null when it is not a ref. */
  readonly self: string | null
  readonly seconds: number | null
  readonly tokens: number | null
  readonly cost: number | null
}

/** The trial that a call below an evaluation is; null for any other call. */
export function toTrial(call: StoredCall): TrialOfModel | null {
  const { parent_id, inputs } = call
  if (parent_id === null || !isTrial(call)) return null
  const output = objectOrEmpty(call.output)
  const example = inputs.example ?? null
  return {
    evaluation_call_id: parent_id,
    row_digest: digestOf(example),
    example,
    model: inputs.model ?? null,
    isScored: Object.hasOwn(output, 'scores'),
    trial: {
      predict_and_score_call_id: call.id,
      predict_call_id: null,
      scorer_call_ids: {},
      genai_span_ref: null,
      // The npm SDK's Evaluation has another name for it.
      model_output: output.output ?? output.model_output ?? null,
      scores: objectOrEmpty(output.scores),
      model_latency_seconds: secondsOf(output.model_latency),
      total_tokens: null,
      total_cost: null,
    },
  }
}

/** Seconds that the SDKs write as a number, or as their mean. */
function secondsOf(latency: unknown): number | null {
  const seconds = typeof latency === 'number' ? latency : objectOrEmpty(latency).mean
  return typeof seconds === 'number' ? seconds : null
}

/** The digest of a dataset row taken from its ref, otherwise the digest of the value. */
function digestOf(example: unknown): string {
  const edge = typeof example === 'string' ? parseReadableRef(example)?.edges.at(-1) : undefined
  return edge?.kind === 'id' ? edge.value : digestOfJson(renderJson(example))
}

/** @param prices - null leaves costs out */
export function toChild(call: StoredCall, prices: PriceTable | null): TrialChild {
  const { id, op_name, attributes, inputs, summary, started_at_us, ended_at_us } = call
  const usage = readUsage(summary, identifyReporter(attributes))
  return {
    id,
    op_name,
    name: nameOfOp(op_name).toLowerCase(),
    isScore: isMarkedScore(call),
    self:
      typeof inputs.self === 'string' && inputs.self.length <= REF_CHARS_MAX ? inputs.self : null,
    seconds: ended_at_us === null ? null : (ended_at_us - started_at_us) / US_PER_S,
    tokens: usage.length === 0 ? null : usage.reduce((sum, one) => sum + one.total_tokens, 0),
    cost: prices === null ? null : (renderCallCosts(call, prices).total_cost ?? null),
  }
}

/** Builds a trial from its child calls. These have no fixed names, so names are matched heuristically. */
export function withChildren(
  { model, trial }: TrialOfModel,
  children: readonly TrialChild[],
): EvalTrial {
  const predict = children.find((child) => isPredict(model, child))
  const keys = new Set(Object.keys(trial.scores).map((score) => score.toLowerCase()))
  const scorers = children.filter(
    (child) =>
      child.isScore ||
      /\.score|scorer/.test(child.name) ||
      (child !== predict && keys.has(child.name)),
  )
  const named = Object.keys(trial.scores).flatMap((score) => {
    const key = score.toLowerCase()
    const found = scorers.find(({ name, self }) => {
      const scorer = self === null ? undefined : parseRef(self)?.name.toLowerCase()
      return name.includes(key) || key.includes(name) || scorer === key
    })
    return found ? [[score, found.id] as const] : []
  })
  return {
    ...trial,
    predict_call_id: predict?.id ?? null,
    scorer_call_ids: Object.fromEntries(named),
    model_latency_seconds: predict?.seconds ?? trial.model_latency_seconds,
    total_tokens: predict?.tokens ?? null,
    total_cost: predict?.cost ?? null,
  }
}

/** Trials by row, then by evaluation; `raw_data_row` is the example. In no order. */
export function groupTrials(trials: readonly TrialOfModel[]): EvalRow[] {
  const rows = new Map<string, EvalRow>()
  for (const { row_digest, example, evaluation_call_id, trial } of trials) {
    const row = rows.get(row_digest) ?? { row_digest, raw_data_row: example, evaluations: [] }
    rows.set(row_digest, row)
    const of = row.evaluations.find((one) => one.evaluation_call_id === evaluation_call_id)
    if (of) of.trials.push(trial)
    else row.evaluations.push({ evaluation_call_id, trials: [trial] })
  }
  return [...rows.values()]
}
