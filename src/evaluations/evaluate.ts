/** Evaluations: predictions of the rows of a data set, and their scores. */
import { createTrialSummary } from '../domain/evaluations/summary.ts'
import { objectOrEmpty } from '../domain/json/json-values.ts'
import type { JsonObject } from '../schemas/primitives.ts'
import { readPlan } from './plan.ts'
import { predict } from './predict.ts'
import { idOf } from './run-calls.ts'
import {
  findDone,
  forEach,
  type JobContext,
  type JobRunOptions,
  planOptions,
  restoreFeedback,
  scoreAll,
  settle,
  storeScores,
  toScoreCalls,
  toTrialOutput,
  type WorkOf,
} from './scoring.ts'

/** Runs an evaluation: each row is predicted and scored, and written as one trial. */
export async function runEvaluation(
  work: WorkOf<'evaluate'>,
  context: JobContext,
  options: JobRunOptions,
): Promise<JsonObject> {
  const { job, caller, calls, signal, onRow } = context
  const { project_id } = job
  const { predicting, nowUs, newId } = options
  const asker = { caller, project_id }
  const plan = await readPlan(work, asker, planOptions(options))
  const { evaluate: op_name } = plan.ops
  await calls.startRun({ op_name, evaluation: work.evaluation_ref, model: work.model_ref })
  const summary = createTrialSummary()

  async function runTrial(index: number): Promise<void> {
    const trial_id = idOf(job.id, 'trial', String(index))
    const done = await findDone(trial_id, context, options)
    if (done !== null) {
      summary.add(objectOrEmpty(done.output))
      return restoreFeedback(done, plan.scorers, calls)
    }
    const row = plan.rows[index % plan.rows.length]
    if (row === undefined) return
    const prediction_id = newId()
    const startedUs = nowUs()
    const about = { caller, project_id, trace_id: job.id, parent_id: prediction_id, signal }
    const made = await settle(
      () => predict(plan.model, row.value, about, predicting),
      signal,
      options.onFailure,
    )
    const endedUs = nowUs()
    const found = made.value
    const seconds = (endedUs - startedUs) / 1e6
    const subject = {
      inputs: row.value,
      output: found?.output ?? null,
      reference: row.value,
      latency_ms: seconds * 1000,
      cost_usd: found?.cost_usd ?? null,
    }
    const predicted = { trial_id, prediction_id, output: subject.output, subject }
    const results = found === null ? [] : await scoreAll(plan.scorers, predicted, context, options)
    const output = toTrialOutput(subject.output, plan.scorers, results, seconds)
    await calls.writeTrial(
      {
        id: trial_id,
        parent_id: job.id,
        op_name: plan.ops.predict_and_score,
        attributes: { weave: { predict_call_id: prediction_id } },
        inputs: { self: work.evaluation_ref, model: work.model_ref, example: row.example },
        started_at_us: startedUs,
        ended_at_us: nowUs(),
        output,
      },
      [
        {
          id: prediction_id,
          parent_id: trial_id,
          op_name: 'LLMStructuredCompletionModel.predict',
          attributes: {
            weave: { prediction: 'true', model: work.model_ref, evaluation_run_id: job.id },
          },
          inputs: { self: work.model_ref, ...row.value },
          started_at_us: startedUs,
          ended_at_us: endedUs,
          output: subject.output,
          summary: { usage: found?.usage ?? {} },
          exception: made.exception,
        },
        ...toScoreCalls(results, predicted, calls),
      ],
    )
    await storeScores(results, predicted, calls)
    summary.add(output)
  }

  const total = plan.rows.length * plan.trials
  await forEach(total, signal, async (index) => {
    await runTrial(index)
    onRow()
  })
  const output = summary.render()
  await calls.endRun(output, null, plan.ops.summarize)
  return output
}
