/** Comparisons: responses of several models to the same prompts, scored by the same scorer. */
import { setImmediate } from 'node:timers/promises'
import { isGiven } from '../domain/json/json-values.ts'
import { meanOf } from '../domain/training/advantages.ts'
import { compareRewards } from '../domain/training/comparison.ts'
import type { ServedModel } from '../inference/models/registry.ts'
import { createRandom } from '../inference/tiny/sampling/random.ts'
import type { Scorer } from '../schemas/evaluators/scorer.ts'
import type { JsonObject } from '../schemas/primitives.ts'
import { completeChat } from './predict.ts'
import { forEach, type JobContext, type JobRunOptions, settle, type WorkOf } from './scoring.ts'

/** Limit: failures whose messages are reported. */
const FAILURES_SHOWN = 3

/** Rewards by model, prompt and sample; null where there is none. */
type Rewards = (number | null)[][][]

/** A request to a model, and what rewards its response. */
interface Sample {
  readonly served: ServedModel
  readonly draft: Readonly<Record<string, unknown>>
  readonly scorer: Scorer
}

/** A reward, or why there is none. */
interface Sampled {
  readonly value: number | null
  readonly exception: string | null
}

/**
 * Asks each model each prompt so many times, and compares the rewards with those of the first model. A name stands for the
 * same checkpoint throughout. An attempt after the process has ended begins anew.
 */
export async function runComparison(
  work: WorkOf<'compare'>,
  context: JobContext,
  options: JobRunOptions,
): Promise<JsonObject> {
  const { models, prompts, samples, seed } = work
  const { caller, job, signal, onRow } = context
  const asker = { caller, projectId: job.project_id }
  const { choice } = options.predicting
  const served = await Promise.all(models.map((name) => choice.choose(name, asker)))
  const rewards: Rewards = models.map(() => prompts.map(() => []))
  const failures: string[] = []
  const total = models.length * prompts.length * samples
  await forEach(total, signal, async (index) => {
    const model = index % models.length
    const prompt = Math.floor(index / models.length) % prompts.length
    const sample = Math.floor(index / (models.length * prompts.length))
    const draft = {
      ...work.parameters,
      ...prompts[prompt],
      // The same seed for all models: what differs is the model.
      seed: seed + prompt * samples + sample,
    }
    const { value, exception } = await sampleReward(
      { served: served[model] as ServedModel, draft, scorer: work.scorer },
      context,
      options,
    )
    const row = rewards[model]?.[prompt]
    if (row !== undefined) row[sample] = value
    if (exception !== null && failures.length < FAILURES_SHOWN) failures.push(exception)
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
    failures,
  }
}

/** One response, recorded as a call of the comparison's trace, and its reward. A failed scorer is asked again, not the model. */
async function sampleReward(
  { served, draft, scorer }: Sample,
  { job, caller, signal }: JobContext,
  { predicting, scorers, nowUs, onFailure }: JobRunOptions,
): Promise<Sampled> {
  const { project_id, id: trace_id } = job
  const about = { caller, project_id, trace_id, parent_id: null, promptRef: null, signal }
  let startedUs = 0
  const ask = () => {
    startedUs = nowUs()
    return completeChat(served, draft, about, predicting)
  }
  const { value: made, exception } = await settle(ask, signal, onFailure)
  if (made === null) return { value: null, exception }
  // What a fallback says is no response of the model.
  if (made.answering !== served) return { value: null, exception: 'a fallback has responded' }
  const latency_ms = (nowUs() - startedUs) / 1000
  const subject = { inputs: draft, output: made.response, latency_ms, cost_usd: made.cost_usd }
  const attributes = { comparison_id: job.id, model: served.id }
  const scoring = { project_id, caller, attributes, signal }
  const score = () => scorers.score(scorer, subject, scoring)
  const scored = await settle(score, signal, onFailure)
  const value = scored.value?.value ?? null
  return value === null
    ? { value, exception: scored.exception ?? 'the scorer has given no number' }
    : { value, exception: null }
}

/** Mean reward by prompt; null where there is none. */
function toMeans(rewards: Rewards[number] = []): (number | null)[] {
  return rewards.map((samples) => {
    const given = samples.filter(isGiven)
    return given.length === 0 ? null : meanOf(given)
  })
}
