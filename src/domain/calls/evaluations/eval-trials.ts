/** Reads the trials of evaluations from their calls: example, prediction and scores. Pure. */
import type { EvalRow, EvalTrial } from '../../../schemas/calls/eval-results.ts'
import { renderJson } from '../../json/json-text.ts'
import { objectOrEmpty } from '../../json/json-values.ts'
import { digestOfJson } from '../../objects/digests.ts'
import { parseReadableRef } from '../../objects/ref-reading.ts'
import { parseRef } from '../../objects/refs.ts'
import { renderCallCosts } from '../../prices/cost.ts'
import type { PriceTable } from '../../prices/price-table.ts'
import { readUsage } from '../../usage/usage.ts'
import { identifyReporter } from '../../usage/usage-reporter.ts'
import type { StoredCall } from '../call-view.ts'
import { PREDICT_AND_SCORE_OP } from './evaluation-calls.ts'

const US_PER_S = 1_000_000
/** Limit: characters of a ref that is kept of a call. */
const REF_CHARS_MAX = 2048

/** A trial with the row and the evaluation that it belongs to. */
export interface TrialOfModel {
  readonly evaluation_call_id: string
  readonly row_digest: string
  /** What the model was given: a value, or a ref of one. */
  readonly example: unknown
  readonly model: unknown
  readonly trial: EvalTrial
}

/** What is kept of a call below a trial. */
export interface TrialChild {
  readonly id: string
  readonly name: string
  readonly isScore: boolean
  /** Ref of the called model; null when it is not a ref. */
  readonly self: string | null
  readonly seconds: number | null
  readonly tokens: number | null
  readonly cost: number | null
}

function nameOfOp(op: string): string {
  return parseRef(op)?.name ?? op
}

/** The trial that a call below an evaluation is; null for any other call. */
export function toTrial(call: StoredCall): TrialOfModel | null {
  const { parent_id, op_name, inputs } = call
  if (parent_id === null || nameOfOp(op_name) !== PREDICT_AND_SCORE_OP) return null
  const output = objectOrEmpty(call.output)
  const example = inputs.example ?? null
  const { mean } = objectOrEmpty(output.model_latency)
  return {
    evaluation_call_id: parent_id,
    row_digest: digestOf(example),
    example,
    model: inputs.model ?? null,
    trial: {
      predict_and_score_call_id: call.id,
      predict_call_id: null,
      scorer_call_ids: {},
      genai_span_ref: null,
      model_output: output.output ?? null,
      scores: objectOrEmpty(output.scores),
      model_latency_seconds: typeof mean === 'number' ? mean : null,
      total_tokens: null,
      total_cost: null,
    },
  }
}

/** That of a row of a dataset by its ref, else that of the value. */
function digestOf(example: unknown): string {
  const edge = typeof example === 'string' ? parseReadableRef(example)?.edges.at(-1) : undefined
  return edge?.kind === 'id' ? edge.value : digestOfJson(renderJson(example))
}

/** @param prices - null leaves costs out */
export function toChild(call: StoredCall, prices: PriceTable | null): TrialChild {
  const { id, op_name, attributes, inputs, summary, started_at_us, ended_at_us } = call
  const marks = objectOrEmpty(attributes.weave)
  const meta = objectOrEmpty(attributes._weave_eval_meta)
  const usage = readUsage(summary, identifyReporter(attributes))
  return {
    id,
    name: nameOfOp(op_name).toLowerCase(),
    isScore: marks.score === 'true' || Boolean(meta.score),
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
  const predict = children.find(({ isScore, self, name }) => {
    if (isScore) return false
    return (model !== null && self === model) || /predict|invoke/.test(name)
  })
  const scorers = children.filter(({ isScore, name }) => isScore || /\.score|scorer/.test(name))
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
