/**
 * One gradient step: the loss of its sequences, its derivative by the adapter, and what is told of both.
 */
import { type LossConfig, policyLoss } from '../domain/policy-loss.ts'
import { createGradient, type Gradient, runBackward } from './backward.ts'
import type { Datum } from './batch.ts'
import { type Pass, runForward } from './forward.ts'
import type { Network } from './network.ts'
import type { TrainingSequence } from './trajectory-reader.ts'

/** What a step found, summed over its sequences. */
export interface StepResult {
  readonly gradient: Gradient
  /** Weighed mean over the tokens that train. */
  readonly loss: number
  /** Mean over the tokens that train, natural logarithm. */
  readonly entropy: number
  /** Estimate of the divergence from the sampling policy, mean over the tokens that train; >= 0. */
  readonly klDiv: number
}

const TOKENS_FLOOR = 1e-6

/**
 * Computes the gradient of a step.
 *
 * @param data - one sequence or more
 * @param pause - awaited between sequences, so that others get their turn; may throw to stop
 */
export async function computeStep(
  network: Network,
  data: readonly Datum[],
  config: LossConfig,
  pause: () => Promise<void>,
): Promise<StepResult> {
  const gradient = createGradient(network)
  const tokens = data.reduce((sum, { sequence }) => sum + sequence.places.length, 0)
  let loss = 0
  let entropy = 0
  let klDiv = 0
  for (const { sequence, advantage, weight } of data) {
    await pause()
    const pass = runSequence(network, sequence)
    const { logprobs, entropies } = readLogits(pass, sequence, network.shape.vocab)
    const found = policyLoss(config, { current: logprobs, sampled: sequence.sampled, advantage })
    const share = weight / (tokens + TOKENS_FLOOR)
    loss += found.loss * share
    entropy += sumOf(entropies)
    klDiv += sumOf(logprobs.map((value, i) => divergence(value, sequence.sampled[i] ?? Number.NaN)))
    const slopes = found.slopes.map((slope) => slope * share)
    toLogitGradient(pass.logits, sequence, slopes, logprobs, network.shape.vocab)
    runBackward(network, pass, pass.logits, gradient)
  }
  return { gradient, loss, entropy: entropy / tokens, klDiv: klDiv / tokens }
}

/** The log-probabilities of the tokens that train, under the network's weights as they are. */
export function scoreSequence(network: Network, sequence: TrainingSequence): number[] {
  const pass = runSequence(network, sequence)
  return readLogits(pass, sequence, network.shape.vocab).logprobs
}

/** Each token is foretold by the position before it. */
function runSequence(network: Network, { ids, places }: TrainingSequence): Pass {
  const needed = (places.at(-1) ?? 0) + 1
  return runForward(
    network,
    ids.slice(0, needed - 1),
    places.map((place) => place - 1),
  )
}

function readLogits({ logits }: Pass, { ids, places }: TrainingSequence, vocab: number) {
  const logprobs: number[] = []
  const entropies: number[] = []
  for (const [row, place] of places.entries()) {
    const stretch = logits.subarray(row * vocab, (row + 1) * vocab)
    const max = stretch.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
    let sum = 0
    let weighed = 0
    for (const logit of stretch) {
      const weight = Math.exp(logit - max)
      sum += weight
      weighed += weight * (logit - max)
    }
    const logSum = Math.log(sum)
    logprobs.push((stretch[ids[place] ?? 0] ?? 0) - max - logSum)
    entropies.push(logSum - weighed / sum)
  }
  return { logprobs, entropies }
}

/** Overwrites the logits with the derivative of the loss by them: slope * (chosen - probability). */
function toLogitGradient(
  logits: Float64Array,
  { ids, places }: TrainingSequence,
  slopes: readonly number[],
  logprobs: readonly number[],
  vocab: number,
): void {
  for (const [row, place] of places.entries()) {
    const slope = slopes[row] ?? 0
    const chosen = row * vocab + (ids[place] ?? 0)
    // The chosen token's logarithm gives back what all probabilities are divided by.
    const logSum = (logits[chosen] ?? 0) - (logprobs[row] ?? 0)
    for (let i = row * vocab; i < (row + 1) * vocab; i++) {
      logits[i] = -slope * Math.exp((logits[i] as number) - logSum)
    }
    logits[chosen] = (logits[chosen] ?? 0) + slope
  }
}

/** exp(d) - d - 1 of the difference to the sampled logarithm: never negative; 0 where that is not known. */
function divergence(current: number, sampled: number): number {
  if (Number.isNaN(sampled)) return 0
  const difference = sampled - current
  return Math.exp(difference) - difference - 1
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0)
}
