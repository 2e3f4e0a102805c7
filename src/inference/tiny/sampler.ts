/**
 * Chooses the next token from logits. Pure: all randomness comes in with the state.
 * The order of the steps is that of vLLM; what is not asked for must not change a logit.
 */
import type { Random } from './random.ts'

/** Below this temperature the likeliest token is always taken. */
export const GREEDY_TEMPERATURE = 1e-5
const LOGIT_BIAS_MAX = 100
/** JSON has no minus infinity; this stands for it. */
const LOGPROB_MIN = -9999

/** How to choose. Neutral values switch a step off. */
export interface SamplingParams {
  /** 0..2; neutral 1. */
  readonly temperature: number
  /** Neutral: 0 or less. */
  readonly topK: number
  /** (0, 1]; neutral 1. */
  readonly topP: number
  /** [0, 1]; neutral 0. */
  readonly minP: number
  /** Above 0; neutral 1. */
  readonly repetitionPenalty: number
  readonly frequencyPenalty: number
  readonly presencePenalty: number
  /** Id to bias; clamped to -100..100. */
  readonly logitBias: ReadonlyMap<number, number>
  /** Only these ids, or null for all. */
  readonly allowedIds: ReadonlySet<number> | null
  /** While fewer tokens than this are generated, `endIds` are banned. */
  readonly minTokens: number
  /** Ids that would end the answer. */
  readonly endIds: readonly number[]
  /** Alternatives to report: null for no log-probabilities at all, -1 for the whole vocabulary. */
  readonly topLogprobs: number | null
}

/** What a choice has seen so far. The sampler writes to `counts` and `generated`. */
export interface SamplerState {
  readonly random: Random
  /** By id: 1 where the token occurs in the prompt. */
  readonly inPrompt: Uint8Array
  /** By id: how often the token was generated. */
  readonly counts: Uint32Array
  generated: number
}

/** A token and its log-probability, -9999..0. */
export interface Ranked {
  readonly id: number
  readonly logprob: number
}

/** The token that was drawn. */
export interface Sampled extends Ranked {
  /** The likeliest tokens first; null when log-probabilities are not asked for. */
  readonly top: readonly Ranked[] | null
}

/** A fresh state for a prompt. */
export function createSamplerState(
  random: Random,
  prompt: readonly number[],
  size: number,
): SamplerState {
  const inPrompt = new Uint8Array(size)
  for (const id of prompt) inPrompt[id] = 1
  return { random, inPrompt, counts: new Uint32Array(size), generated: 0 }
}

/**
 * Draws the next token and counts it in the state.
 *
 * @param raw - the model's logits; left as they are
 * @returns null when no token may follow, as when all allowed ones are banned
 *
 * Spec: §4.3 temperature, top_k, top_p, min_p, penalties, logit_bias, logprobs.
 * Choice: the reported log-probabilities are those of the model itself, before temperature, penalties
 * and filters, as vLLM's default mode gives them.
 */
export function sampleToken(
  raw: Float32Array,
  params: SamplingParams,
  state: SamplerState,
): Sampled | null {
  const logits = raw.slice()
  limitVocabulary(logits, params, state)
  penalize(logits, params, state)
  const best = argmax(logits)
  if (best < 0) return null
  const isGreedy = params.temperature < GREEDY_TEMPERATURE
  const id = isGreedy ? best : draw(logits, params, state.random)
  state.counts[id] = (state.counts[id] ?? 0) + 1
  state.generated++
  return { id, ...report(raw, id, params.topLogprobs) }
}

/** Bans what may not come, and adds the biases. */
function limitVocabulary(logits: Float32Array, params: SamplingParams, state: SamplerState): void {
  const { allowedIds } = params
  if (allowedIds !== null) {
    for (let id = 0; id < logits.length; id++) {
      if (!allowedIds.has(id)) logits[id] = Number.NEGATIVE_INFINITY
    }
  }
  if (state.generated < params.minTokens) {
    for (const id of params.endIds) logits[id] = Number.NEGATIVE_INFINITY
  }
  for (const [id, bias] of params.logitBias) {
    const clamped = Math.min(LOGIT_BIAS_MAX, Math.max(-LOGIT_BIAS_MAX, bias))
    logits[id] = (logits[id] ?? 0) + clamped
  }
}

/** Repetition counts prompt and answer, frequency and presence the answer alone. */
function penalize(
  logits: Float32Array,
  { repetitionPenalty, frequencyPenalty, presencePenalty }: SamplingParams,
  { inPrompt, counts }: SamplerState,
): void {
  if (repetitionPenalty === 1 && frequencyPenalty === 0 && presencePenalty === 0) return
  for (let id = 0; id < logits.length; id++) {
    const count = counts[id] ?? 0
    let logit = logits[id] ?? 0
    if (count > 0 || inPrompt[id] === 1) {
      logit = logit > 0 ? logit / repetitionPenalty : logit * repetitionPenalty
    }
    if (count > 0) logit -= frequencyPenalty * count + presencePenalty
    logits[id] = logit
  }
}

/** Draws from the tempered distribution after min_p, top_k and top_p, in this order. */
function draw(logits: Float32Array, params: SamplingParams, random: Random): number {
  const { temperature, minP, topK, topP } = params
  const max = logits[argmax(logits)] ?? 0
  const weights = new Float64Array(logits.length)
  for (let id = 0; id < logits.length; id++) {
    const weight = Math.exp(((logits[id] ?? 0) - max) / temperature)
    // The likeliest token weighs 1, so min_p is itself the least weight.
    weights[id] = weight >= minP ? weight : 0
  }
  const limited = topK > 0 && topK < weights.length
  if (limited || topP < 1) keepLikeliest(weights, limited ? topK : weights.length, topP)
  let total = 0
  for (const weight of weights) total += weight
  let rest = random.next() * total
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

/** Sets all weights to 0 but the k largest, and of these the fewest that make up the share topP. */
function keepLikeliest(weights: Float64Array, k: number, topP: number): void {
  const order = rank(weights)
  let total = 0
  for (const id of order.subarray(0, k)) total += weights[id] ?? 0
  let sum = 0
  for (const [place, id] of order.entries()) {
    const isKept = place < k && (place === 0 || sum < topP * total)
    if (isKept) sum += weights[id] ?? 0
    else weights[id] = 0
  }
}

/** Ids from the largest value to the smallest; equal values by id, so that runs are equal. */
function rank(values: Float32Array | Float64Array): Uint32Array {
  const order = Uint32Array.from(values, (_, id) => id)
  return order.sort((a, b) => (values[b] ?? 0) - (values[a] ?? 0) || a - b)
}

function report(
  raw: Float32Array,
  id: number,
  topLogprobs: number | null,
): { logprob: number; top: Ranked[] | null } {
  if (topLogprobs === null) return { logprob: 0, top: null }
  const max = raw[argmax(raw)] ?? 0
  let sum = 0
  for (const logit of raw) sum += Math.exp(logit - max)
  const logSum = max + Math.log(sum)
  const logprobOf = (token: number): number =>
    Math.max(LOGPROB_MIN, (raw[token] ?? Number.NEGATIVE_INFINITY) - logSum)
  if (topLogprobs === 0) return { logprob: logprobOf(id), top: [] }
  const order = rank(raw)
  const shown = order.subarray(0, topLogprobs < 0 ? order.length : topLogprobs)
  const top = Array.from(shown, (token) => ({ id: token, logprob: logprobOf(token) }))
  return { logprob: logprobOf(id), top }
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
