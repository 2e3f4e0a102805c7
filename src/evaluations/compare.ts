/** Comparisons: responses of several models to the same prompts, scored by the same scorer. */
import { setImmediate } from 'node:timers/promises'
import { isGiven } from '../domain/json/json-values.ts'
import { meanOf } from '../domain/training/advantages.ts'
import { compareRewards } from '../domain/training/comparison.ts'
import { createRandom } from '../inference/tiny/sampling/random.ts'
import type { JsonObject } from '../schemas/primitives.ts'
import { completeChat } from './predict.ts'
import { forEach, type JobContext, type JobRunOptions, settle, type WorkOf } from './scoring.ts'

/** Limit: failures whose messages are reported. */
const FAILURES_SHOWN = 3

/** Rewards by model, prompt and sample; null where there is none. */
type Rewards = (number | null)[][][]

/**
 * Asks each model each prompt so many times, and compares the rewards with those of the first model. An attempt after the
 * process has ended begins anew.
 */
export async function runComparison(
  work: WorkOf<'compare'>,
  context: JobContext,
  options: JobRunOptions,
): Promise<JsonObject> {
  const { models, prompts, samples, seed } = work
  const { signal, onRow } = context
  const rewards: Rewards = models.map(() => prompts.map(() => []))
  const failures: string[] = []
  const total = models.length * prompts.length * samples
  await forEach(total, signal, async (index) => {
    const model = index % models.length
    const prompt = Math.floor(index / models.length) % prompts.length
    const sample = Math.floor(index / (models.length * prompts.length))
    const made = await settle(
      () => sampleReward(work, { model, prompt, sample }, context, options),
      signal,
      options.onFailure,
    )
    const { value, exception } = made
    const row = rewards[model]?.[prompt]
    if (row !== undefined) row[sample] = value
    if (value === null)
      failures.push(exception ?? 'a fallback has responded, or the scorer has given no number')
    onRow()
  })
  const baseline = toMeans(rewards[0])
  const compareWithFirst = (model: string, index: number): JsonObject => {
    const means = toMeans(rewards[index])
    const given = (rewards[index] ?? []).flat().filter(isGiven)
    const pairs = means.flatMap((candidate, prompt) => {
      const base = baseline[prompt] ?? null
      return candidate === null || base === null ? [] : [{ baseline: base, candidate }]
    })
    const random = createRandom(BigInt(seed), index)
    return {
      model,
      responses: given.length,
      failed: prompts.length * samples - given.length,
      mean_reward: given.length === 0 ? null : meanOf(given),
      difference: index === 0 ? null : { ...compareRewards(pairs, random.next) },
    }
  }
  const compared: JsonObject[] = []
  for (const [index, model] of models.entries()) {
    compared.push(compareWithFirst(model, index))
    // Others have their turn between two models.
    await setImmediate()
  }
  return {
    prompts: prompts.length,
    samples,
    models: compared,
    failures: failures.slice(0, FAILURES_SHOWN),
  }
}

/** One response, recorded as a call of the comparison's trace, and its reward; null: the scorer gives none. */
async function sampleReward(
  { models, prompts, parameters, samples, seed, scorer }: WorkOf<'compare'>,
  at: { readonly model: number; readonly prompt: number; readonly sample: number },
  { job, caller, signal }: JobContext,
  { predicting, scorers, nowUs }: JobRunOptions,
): Promise<number | null> {
  const { project_id, id: trace_id } = job
  const served = await predicting.choice.choose(models[at.model], { caller, projectId: project_id })
  // The same seed for all models: what differs is the model.
  const draft = {
    ...parameters,
    ...prompts[at.prompt],
    seed: seed + at.prompt * samples + at.sample,
  }
  const about = { caller, project_id, trace_id, parent_id: null, promptRef: null, signal }
  const startedUs = nowUs()
  const { response, answering, cost_usd } = await completeChat(served, draft, about, predicting)
  // What a fallback says is no response of the model.
  if (answering !== served) return null
  const latency_ms = (nowUs() - startedUs) / 1000
  const subject = { inputs: draft, output: response, latency_ms, cost_usd }
  const attributes = { comparison_id: job.id, model: served.id }
  return (await scorers.score(scorer, subject, { project_id, caller, attributes, signal })).value
}

/** Mean reward by prompt; null where there is none. */
function toMeans(rewards: Rewards[number] = []): (number | null)[] {
  return rewards.map((samples) => {
    const given = samples.filter(isGiven)
    return given.length === 0 ? null : meanOf(given)
  })
}
