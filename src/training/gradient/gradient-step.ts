/**
 * One gradient step: the loss of its sequences, its derivative by the adapter, and the metrics of both.
 */
import { type LossConfig, policyLoss } from '../../domain/training/policy-loss.ts'
import type { Datum } from '../worker/batch.ts'
import type { TrainingSequence } from '../worker/trajectory-reader.ts'
import { createGradient, type Gradient, runBackward } from './backward.ts'
import { type Pass, runForward } from './forward.ts'
import { findRuns, layOut } from './layout.ts'
import type { Network } from './network.ts'

/** Metrics of a step over all its sequences. */
interface StepResult {
  readonly gradient: Gradient
  /** Weighted mean over the trained tokens. */
  readonly loss: number
  /** Mean over the trained tokens, natural logarithm. */
  readonly entropy: number
  /** Estimated divergence from the sampling policy, mean over the trained tokens; >= 0. */
  readonly klDiv: number
}

const TOKENS_FLOOR = 1e-6

/**
 * Computes the gradient of a step.
 *
 * @param data - one sequence or more
 * @param pause - awaited between passes, so that other work can run; may throw to stop
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
  for (const run of findRuns(data)) {
    await pause()
    const pass = runForward(network, layOut(run.map(({ sequence }) => sequence)))
    const rows = splitLogits(pass, network.shape.vocab)
    for (const [place, datum] of run.entries()) {
      const told = judge(rows[place] ?? [], datum, config, tokens)
      loss += told.loss
      entropy += told.entropy
      klDiv += told.klDiv
    }
    runBackward(network, pass, pass.logits, gradient)
  }
  return { gradient, loss, entropy: entropy / tokens, klDiv: klDiv / tokens }
}

/** Returns one sequence's part of the step's metrics. Overwrites its logits with the derivative by them. */
function judge(
  logits: readonly Float64Array[],
  { sequence, advantage, weight }: Datum,
  config: LossConfig,
  tokens: number,
): { readonly loss: number; readonly entropy: number; readonly klDiv: number } {
  const { ids, places, sampled } = sequence
  const told = logits.map((row, i) => readRow(row, ids[places[i] ?? 0] ?? 0))
  const current = told.map(({ logprob }) => logprob)
  const { loss, slopes } = policyLoss(config, { current, sampled, advantage })
  const share = weight / (tokens + TOKENS_FLOOR)
  let entropy = 0
  let klDiv = 0
  for (const [i, reading] of told.entries()) {
    entropy += reading.entropy
    klDiv += divergence(reading.logprob, sampled[i] ?? Number.NaN)
    toGradient(logits[i], reading, (slopes[i] ?? 0) * share)
  }
  return { loss: loss * share, entropy, klDiv }
}

/** Returns the log-probabilities of the trained tokens under the current weights. */
export function scoreSequences(
  network: Network,
  sequences: readonly TrainingSequence[],
): number[][] {
  const rows = splitLogits(runForward(network, layOut(sequences)), network.shape.vocab)
  return sequences.map(({ ids, places }, place) =>
    (rows[place] ?? []).map((row, i) => readRow(row, ids[places[i] ?? 0] ?? 0).logprob),
  )
}

/** Returns the logits of each sequence, one view per trained token. */
function splitLogits({ layout, logits }: Pass, vocab: number): Float64Array[][] {
  let at = 0
  return layout.wanted.map((rows) => rows.map(() => logits.subarray(at * vocab, ++at * vocab)))
}

/** Values for a token, computed from the logits before it. */
interface RowReading {
  readonly id: number
  readonly logprob: number
  /** The logarithm of the sum of all exponentials. */
  readonly logSum: number
  readonly entropy: number
}

function readRow(logits: Float64Array, id: number): RowReading {
  const max = logits.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
  let sum = 0
  let weighed = 0
  for (const logit of logits) {
    const weight = Math.exp(logit - max)
    sum += weight
    weighed += weight * (logit - max)
  }
  const logSum = max + Math.log(sum)
  return { id, logprob: (logits[id] ?? 0) - logSum, logSum, entropy: logSum - max - weighed / sum }
}

/** Overwrites the logits with the derivative by them: slope * (chosen - probability). */
function toGradient(
  logits: Float64Array | undefined,
  { id, logSum }: RowReading,
  slope: number,
): void {
  if (logits === undefined) return
  for (let i = 0; i < logits.length; i++) {
    logits[i] = -slope * Math.exp((logits[i] as number) - logSum)
  }
  logits[id] = (logits[id] ?? 0) + slope
}

/** Returns exp(d) - d - 1 for d, the difference to the sampled logarithm: never negative; 0 if that is unknown. */
function divergence(current: number, sampled: number): number {
  if (Number.isNaN(sampled)) return 0
  const difference = sampled - current
  return Math.exp(difference) - difference - 1
}
