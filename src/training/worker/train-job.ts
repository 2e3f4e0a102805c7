/**
 * Runs one training job, from its groups to the artifact of its checkpoint. The same job on the same parent
 * produces the same bytes. It knows neither the queue nor the server.
 */
import { meanOf } from '../../domain/training/advantages.ts'
import type { ResolvedTrainingConfig } from '../../domain/training/resolve-training-config.ts'
import type { LowRank } from '../../inference/tiny/lora/adapter.ts'
import { readArtifact, writeArtifact } from '../../inference/tiny/lora/artifact.ts'
import type { Model } from '../../inference/tiny/model/model.ts'
import { createChatPrompt } from '../../inference/tiny/text/chat-prompt.ts'
import { createTokenizer } from '../../inference/tiny/text/tokenizer.ts'
import type { TrajectoryGroup } from '../../schemas/training/training-job.ts'
import type { UntrainedReason } from '../../schemas/training/worker.ts'
import { createAdam } from '../gradient/adam.ts'
import { computeStep, scoreSequences } from '../gradient/gradient-step.ts'
import { findRuns } from '../gradient/layout.ts'
import { createNetwork, type Network } from '../gradient/network.ts'
import { type AdapterSize, completeAdapter, createAdapter } from '../gradient/new-adapter.ts'
import { type Datum, planBatch } from './batch.ts'
import { createTrajectoryReader, type TrajectoryReader } from './trajectory-reader.ts'

/** The input of a job. */
interface TrainingInput {
  readonly groups: readonly TrajectoryGroup[]
  readonly config: ResolvedTrainingConfig
  /** The parent checkpoint's file; null: the base model. */
  readonly parent: Uint8Array | null
}

/** Callbacks for the progress of a job. */
interface TrainingHooks {
  /** Called before the first step. @param steps - number of gradient steps; 0 when nothing trains */
  onStart(steps: number): void
  /** Called after each step with its metrics by name. */
  onStep(metrics: Readonly<Record<string, number>>): void
  /** Awaited between passes; an error from it ends the job. */
  pause(): Promise<void>
}

/** The result of a job. */
export interface TrainingResult {
  /** The checkpoint's file; null when nothing trained. */
  readonly artifact: Uint8Array | null
  /** Why nothing trained; null when something did. */
  readonly reason: UntrainedReason | null
  /** Metrics of the checkpoint by name. */
  readonly metrics: Readonly<Record<string, number>>
}

/**
 * Thrown when weights or a gradient are not finite: the learning rate is too high, or the rollouts have log
 * probabilities that no model returns.
 */
export class DivergedError extends Error {
  constructor() {
    super('the training diverged: lower the learning rate, or look for wrong log probabilities')
    this.name = 'DivergedError'
  }
}

/** Trains jobs of one base model, one at a time. */
export interface JobTrainer {
  /**
   * Runs a job.
   *
   * @throws TrajectoryError, AdapterFileError, DivergedError; another attempt would throw them again
   */
  train(input: TrainingInput, hooks: TrainingHooks): Promise<TrainingResult>
}

/** Size of new adapters: 50,304 numbers of the shipped model, a tenth of its own. */
const ADAPTER_SIZE: AdapterSize = { rank: 8, alpha: 16 }

/** Limit: tokens of one sequence, for the memory of its pass: 40 kB each in the shipped model. */
const SEQUENCE_TOKENS_MAX = 4_096

/**
 * Creates a trainer.
 *
 * @param baseModel - name of the model, for the adapter's config
 */
export function createJobTrainer(
  model: Model,
  baseModel: string,
  size: AdapterSize = ADAPTER_SIZE,
): JobTrainer {
  const { shape } = model
  const tokenizer = createTokenizer(model.vocabulary)
  const tokensMax = Math.min(shape.context, SEQUENCE_TOKENS_MAX)
  const prompt = createChatPrompt(model.chatTemplate, tokenizer, tokensMax)
  const reader: TrajectoryReader = createTrajectoryReader(tokenizer, prompt, tokensMax)

  return {
    async train({ groups, config, parent }, hooks) {
      const batch = await planBatch(groups, reader, config, hooks.pause)
      hooks.onStart(batch.steps.length)
      if (batch.steps.length === 0) {
        return { artifact: null, reason: batch.reason, metrics: batch.metrics }
      }
      const saved = parent === null ? null : readArtifact(parent, shape)
      const adapter =
        saved === null ? createAdapter(shape, size) : completeAdapter(shape, saved.adapter)
      const network = createNetwork(model, adapter)
      const adam = createAdam(network, saved?.optimizer ?? null)
      const steps = config.precalculate_logprobs
        ? await rescore(network, batch.steps, hooks.pause)
        : batch.steps
      const told: Record<string, number>[] = []
      for (const data of steps) {
        const result = await computeStep(network, data, config, hooks.pause)
        const norm = adam.step(result.gradient, config.learning_rate)
        requireFinite(network, [norm, result.loss, result.klDiv])
        network.refresh()
        const metrics = {
          loss: result.loss,
          entropy: result.entropy,
          kl_div: result.klDiv,
          grad_norm: norm,
          learning_rate: config.learning_rate,
        }
        told.push(metrics)
        hooks.onStep({ ...batch.metrics, ...metrics })
      }
      return {
        artifact: writeArtifact({ adapter, optimizer: adam.save() }, shape, baseModel),
        reason: null,
        metrics: { ...batch.metrics, ...meanMetrics(told) },
      }
    },
  }
}

/** Returns the steps with log-probabilities under the weights before the job instead of the sampled ones. */
async function rescore(
  network: Network,
  steps: readonly (readonly Datum[])[],
  pause: () => Promise<void>,
): Promise<Datum[][]> {
  const scored: Datum[][] = []
  for (const data of steps) {
    const step: Datum[] = []
    for (const run of findRuns(data)) {
      await pause()
      const found = scoreSequences(
        network,
        run.map(({ sequence }) => sequence),
      )
      for (const [place, datum] of run.entries()) {
        const sampled = found[place] ?? []
        step.push({ ...datum, sequence: { ...datum.sequence, sampled } })
      }
    }
    scored.push(step)
  }
  return scored
}

/** @throws DivergedError when a number is not finite, or does not fit into the 32 bits of the file */
function requireFinite({ adapter }: Network, told: readonly number[]): void {
  const matrices = adapter.layers.flatMap((layer) =>
    Object.values(layer).flatMap(({ a, b }: LowRank) => [a, b]),
  )
  const fits = (value: number): boolean => Number.isFinite(Math.fround(value))
  const areFinite = [told, ...matrices].every((numbers) => numbers.every(fits))
  if (!areFinite) throw new DivergedError()
}

/** Returns the means of the metrics that all steps have. */
function meanMetrics(told: readonly Record<string, number>[]): Record<string, number> {
  const names = Object.keys(told[0] ?? {})
  return Object.fromEntries(
    names.map((name) => [name, meanOf(told.map((metrics) => metrics[name] ?? 0))]),
  )
}
