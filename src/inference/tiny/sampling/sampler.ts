/**
 * Samples the next token from logits. Pure: all randomness is part of the state. The log-probabilities that it reports
 * must be those of the distribution that it samples from.
 */
import type { Random } from './random.ts'
import { rank } from './ranking.ts'
import {
  applyRules,
  createHistory,
  type LogitRules,
  type TokenHistory,
  type TokenMask,
} from './vocabulary-limits.ts'

/** Below this temperature the likeliest token is always taken. */
export const GREEDY_TEMPERATURE = 1e-5
/** Replaces minus infinity, which JSON does not have. */
const LOGPROB_MIN = -9999

/** Tokens that are looked at first where the likeliest ones of a share are wanted. */
const FIRST_LIKELIEST = 32
/** How many times more are looked at when they are too few. */
const LIKELIEST_GROWTH = 8

/** How to choose. Neutral values switch a step off. */
export interface SamplingParams extends LogitRules {
  /** 0..2; neutral 1. */
  readonly temperature: number
  /** Neutral: 0 or less. */
  readonly topK: number
  /** (0, 1]; neutral 1. */
  readonly topP: number
  /** [0, 1]; neutral 0. */
  readonly minP: number
  /** Alternatives to report: null for no log-probabilities at all, -1 for the whole vocabulary. */
  readonly topLogprobs: number | null
}

/** What a choice has seen so far. The sampler writes to `counts` and `generated`. */
interface SamplerState extends TokenHistory {
  readonly random: Random
  readonly generated: number[]
}

/** A token and its log-probability, -9999..0. */
export interface Ranked {
  readonly id: number
  readonly logprob: number
}

/** A token that was chosen. */
export interface Sampled extends Ranked {
  /** The most likely tokens first; null when log-probabilities are not requested. */
  readonly top: readonly Ranked[] | null
}

/** A fresh state for a prompt. */
export function createSamplerState(
  random: Random,
  prompt: readonly number[],
  size: number,
): SamplerState {
  return { random, ...createHistory(prompt, size) }
}

/**
 * Draws the next token and counts it in the state.
 *
 * @param raw - the model's logits; not modified
 * @param mask - what a grammar allows, or null
 * @returns null when no token may follow, as when all allowed ones are banned
 *
 * Spec: §4.3 temperature, top_k, top_p, min_p, logprobs, top_logprobs.
 * Choice: log-probabilities are the ones drawn from: after bans, biases, penalties, temperature, min_p,
 * top_k and top_p. At temperature 0 nothing is drawn; they are then those of temperature 1.
 */
export function sampleToken(
  raw: Float32Array,
  params: SamplingParams,
  state: SamplerState,
  mask: TokenMask | null = null,
): Sampled | null {
  const logits = applyRules(raw, params, state, mask)
  const best = argmax(logits)
  if (best < 0) return null
  const isGreedy = params.temperature < GREEDY_TEMPERATURE
  const weights = isGreedy ? weigh(logits, 1) : filter(logits, params)
  const id = isGreedy ? best : draw(weights, state.random)
  state.counts[id] = (state.counts[id] ?? 0) + 1
  state.generated.push(id)
  return { id, ...report(weights, logits, id, params.topLogprobs) }
}

/** A token with its log-probability among all tokens, and on request the most likely ones. */
export function describeToken(
  logits: Float32Array,
  id: number,
  topLogprobs: number | null,
): Sampled {
  return { id, ...report(weigh(logits, 1), logits, id, topLogprobs) }
}

/** Weights in the proportions of the probabilities; the likeliest token weighs 1. */
function weigh(logits: Float32Array, temperature: number): Float64Array {
  const max = logits[argmax(logits)] ?? 0
  const weights = new Float64Array(logits.length)
  for (let id = 0; id < weights.length; id++) {
    weights[id] = Math.exp(((logits[id] ?? 0) - max) / temperature)
  }
  return weights
}

/** The tempered weights after min_p, top_k and top_p, in this order. */
function filter(logits: Float32Array, params: SamplingParams): Float64Array {
  const { temperature, minP, topK, topP } = params
  const weights = weigh(logits, temperature)
  for (let id = 0; id < weights.length; id++) {
    // The likeliest token weighs 1, so min_p is itself the least weight.
    if ((weights[id] ?? 0) < minP) weights[id] = 0
  }
  if (topK > 0 && topK < weights.length) {
    const order = rank(logits, topK)
    // Of a whole share the least weights would be lost, which no longer change the sum.
    return keepShare(weights, order, topP < 1 ? topP * sumOf(weights, order) : Infinity)
  }
  if (topP >= 1) return weights
  const share = topP * sumOf(weights)
  let order = rank(logits, FIRST_LIKELIEST)
  while (order.length < weights.length && sumOf(weights, order) < share) {
    order = rank(logits, order.length * LIKELIEST_GROWTH)
  }
  return keepShare(weights, order, share)
}

/** The fewest of the weights, in the given order, that make up a share of them; all others are 0. */
function keepShare(weights: Float64Array, order: Uint32Array, share: number): Float64Array {
  const kept = new Float64Array(weights.length)
  let sum = 0
  for (const [place, id] of order.entries()) {
    if (place > 0 && sum >= share) break
    kept[id] = weights[id] ?? 0
    sum += kept[id] ?? 0
  }
  return kept
}

function draw(weights: Float64Array, random: Random): number {
  let rest = random.next() * sumOf(weights)
  let last = 0
  for (let id = 0; id < weights.length; id++) {
    const weight = weights[id] ?? 0
    if (weight === 0) continue
    last = id
    rest -= weight
    if (rest < 0) break
  }
  return last
}

function report(
  weights: Float64Array,
  logits: Float32Array,
  id: number,
  topLogprobs: number | null,
): { logprob: number; top: Ranked[] | null } {
  const logSum = Math.log(sumOf(weights))
  const logprobOf = (token: number): number =>
    Math.max(LOGPROB_MIN, Math.log(weights[token] ?? 0) - logSum)
  const logprob = logprobOf(id)
  if (topLogprobs === null) return { logprob, top: null }
  if (topLogprobs === 0) return { logprob, top: [] }
  const shown = rank(logits, topLogprobs < 0 ? logits.length : topLogprobs)
  return { logprob, top: Array.from(shown, (token) => ({ id: token, logprob: logprobOf(token) })) }
}

/** The sum of all weights, or of those of some ids. */
function sumOf(weights: Float64Array, ids: Uint32Array | null = null): number {
  let total = 0
  const count = ids === null ? weights.length : ids.length
  for (let place = 0; place < count; place++) {
    total += weights[ids === null ? place : (ids[place] ?? 0)] ?? 0
  }
  return total
}

/** The id of the largest value, the first of equals; -1 when all are minus infinity or NaN. */
function argmax(values: Float32Array): number {
  let best = -1
  let max = Number.NEGATIVE_INFINITY
  for (let id = 0; id < values.length; id++) {
    const value = values[id] ?? 0
    if (value > max) {
      best = id
      max = value
    }
  }
  return best
}
