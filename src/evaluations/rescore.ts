/** Runs whose predictions are scored again, by other scorers. */
import type { StoredCall } from '../domain/calls/call-view.ts'
import { isMarkedScore, isPredict } from '../domain/calls/evaluations/evaluation-calls.ts'
import { createTrialSummary } from '../domain/evaluations/summary.ts'
import { costOfCall } from '../domain/evaluators/subject.ts'
import { objectOrEmpty, textOrEmpty, textOrNull } from '../domain/json/json-values.ts'
import { parseReadableRef } from '../domain/objects/readable-ref.ts'
import type { PriceTable } from '../domain/prices/price-table.ts'
import { layerPrices } from '../domain/prices/project-prices.ts'
import { ApiError } from '../errors.ts'
import type { JsonObject } from '../schemas/primitives.ts'
import { readScorers } from './plan.ts'
import { idOf } from './run-calls.ts'
import {
  findDone,
  forEach,
  type JobContext,
  type JobRunOptions,
  type Predicted,
  planOptions,
  readCalls,
  readTrialIds,
  restoreFeedback,
  scoreAll,
  storeScores,
  toScoreCalls,
  toTrialOutput,
  type WorkOf,
} from './scoring.ts'

/** @throws ApiError call_not_found when the run is gone */
export async function runRescore(
  { source_run_id, scorer_refs }: WorkOf<'rescore'>,
  context: JobContext,
  options: JobRunOptions,
): Promise<JsonObject> {
  const { job, caller, calls, signal, onRow } = context
  const { project_id } = job
  const { stores, nowUs } = options
  const source = await stores.calls.findCall(project_id, source_run_id)
  if (source === null) throw new ApiError('call_not_found', { param: 'source_evaluation_run_id' })
  const subject = subjectOfRun(source)
  await calls.startRun({ ...subject, source_run_id })
  const scorers = await readScorers(
    scorer_refs,
    { caller, project_id },
    planOptions(options),
    'scorer_refs',
  )
  const reader = { keyId: caller.keyId, project_id, signal }
  const ids = await readTrialIds(source_run_id, reader, options)
  const table = layerPrices(await stores.prices.listPrices(project_id))
  const summary = createTrialSummary()
  await forEach(ids.length, signal, async (index) => {
    const id = ids[index] ?? ''
    const trial_id = idOf(job.id, 'trial', id)
    const done = await findDone(trial_id, context, options)
    if (done !== null) {
      summary.add(objectOrEmpty(done.output))
      await restoreFeedback(done, scorers, calls)
      return onRow()
    }
    const trial = await stores.calls.findCall(project_id, id)
    if (trial === null) return onRow()
    const startedUs = nowUs()
    const predicted = await readPredicted({ trial, trial_id, table }, context, options)
    const results = await scoreAll(scorers, predicted, context, options)
    const seconds = predicted.subject.latency_ms ?? null
    const output = toTrialOutput(
      predicted.output,
      scorers,
      results,
      seconds === null ? null : seconds / 1000,
    )
    await calls.writeTrial(
      {
        id: trial_id,
        parent_id: job.id,
        op_name: trial.op_name,
        attributes: { weave: { predict_call_id: predicted.prediction_id } },
        inputs: { ...trial.inputs, self: subject.evaluation, model: subject.model },
        started_at_us: startedUs,
        ended_at_us: nowUs(),
        output,
      },
      toScoreCalls(results, predicted, calls),
    )
    await storeScores(results, predicted, calls)
    summary.add(output)
    onRow()
  })
  const output = summary.render()
  await calls.endRun(output, null)
  return output
}

/** The evaluation and the model of a run, by whatever recorded it. */
export function subjectOfRun({ op_name, attributes, inputs }: StoredCall) {
  const { evaluation, model } = objectOrEmpty(attributes.weave)
  return {
    op_name,
    evaluation: textOrNull(evaluation) ?? textOrEmpty(inputs.self),
    model: textOrNull(model) ?? textOrEmpty(inputs.model),
  }
}

interface Rescored {
  readonly trial: StoredCall
  /** Of the new run. */
  readonly trial_id: string
  readonly table: PriceTable
}

/** Reads the prediction of a trial that another run recorded. */
async function readPredicted(
  { trial, trial_id, table }: Rescored,
  context: JobContext,
  options: JobRunOptions,
): Promise<Predicted> {
  const { example, model } = trial.inputs
  const ref = typeof example === 'string' ? parseReadableRef(example) : null
  const inputs = ref === null ? example : await options.readRef(String(example), context.caller)
  const found = objectOrEmpty(trial.output)
  const output = found.output ?? found.model_output ?? null
  const marked = textOrNull(objectOrEmpty(trial.attributes.weave).predict_call_id)
  const unknown = { id: marked ?? trial.id, latency_ms: null, cost_usd: null }
  let prediction: Measured = unknown
  for await (const call of readCalls({ parent_ids: [trial.id] }, context, options)) {
    const part = { op_name: call.op_name, self: call.inputs.self, isScore: isMarkedScore(call) }
    const isIt = marked === null ? isPredict(model, part) : call.id === marked
    if (!isIt) continue
    const { id, started_at_us, ended_at_us } = call
    const us = ended_at_us === null ? null : Math.max(0, ended_at_us - started_at_us)
    prediction = {
      id,
      latency_ms: us === null ? null : us / 1000,
      cost_usd: costOfCall(call, table),
    }
  }
  const { id: prediction_id, ...measured } = prediction
  const subject = { inputs, output, reference: inputs, ...measured }
  return { trial_id, prediction_id, output, subject }
}

/** A prediction with what it took; null: not known. */
interface Measured {
  readonly id: string
  readonly latency_ms: number | null
  readonly cost_usd: number | null
}
