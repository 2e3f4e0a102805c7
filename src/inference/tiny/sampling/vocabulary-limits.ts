/**
 * Applies bans, biases and penalties to the model's logits before a token is chosen. Pure. The order is that of vLLM;
 * neutral settings must not change a logit.
 */
import type { PassLogits } from '../model/transformer.ts'
import type { Tokenizer } from '../text/tokenizer.ts'
import { NOTHING, type Step } from './steps.ts'

const LOGIT_BIAS_MAX = 100

/** Bans, biases and penalties. Neutral values switch one off. */
export interface LogitRules {
  /** Above 0; neutral 1. */
  readonly repetitionPenalty: number
  readonly frequencyPenalty: number
  readonly presencePenalty: number
  /** Id to bias; clamped to -100..100. */
  readonly logitBias: ReadonlyMap<number, number>
  /** Only these ids, or null for all. */
  readonly allowedIds: ReadonlySet<number> | null
  /** Sequences of ids whose last one may not follow the others. */
  readonly badWords: readonly (readonly number[])[]
  /** While fewer tokens than this are generated, `endIds` are banned. */
  readonly minTokens: number
  /** Ids that end an answer, or would without ignore_eos. */
  readonly endIds: readonly number[]
}

/** What an answer holds so far. */
export interface TokenHistory {
  /** By id: 1 where the token occurs in the prompt. */
  readonly inPrompt: Uint8Array
  /** By id: how often the token was generated. */
  readonly counts: Uint32Array
  /** The generated ids, in order. */
  readonly generated: readonly number[]
}

/** The history of an answer that has not begun. */
export function createHistory(prompt: readonly number[], size: number) {
  const inPrompt = new Uint8Array(size)
  for (const id of prompt) inPrompt[id] = 1
  const generated: number[] = []
  return { inPrompt, counts: new Uint32Array(size), generated } satisfies TokenHistory
}

/** Ids that may come next, a bit each, from a grammar. */
export type TokenMask = Int32Array

/**
 * A copy of the logits with the rules applied; banned tokens are minus infinity.
 *
 * Spec: §4.3 allowed_token_ids, bad_words, min_tokens, logit_bias, the three penalties.
 * Choice: repetition counts prompt and answer, frequency and presence the answer alone.
 */
export function applyRules(
  raw: Float32Array,
  rules: LogitRules,
  history: TokenHistory,
  mask: TokenMask | null,
): Float32Array {
  const logits = raw.slice()
  ban(logits, rules, history, mask)
  for (const [id, bias] of rules.logitBias) {
    const clamped = Math.min(LOGIT_BIAS_MAX, Math.max(-LOGIT_BIAS_MAX, bias))
    logits[id] = (logits[id] ?? 0) + clamped
  }
  penalize(logits, rules, history)
  return logits
}

function ban(
  logits: Float32Array,
  { allowedIds, badWords, minTokens, endIds }: LogitRules,
  { generated }: TokenHistory,
  mask: TokenMask | null,
): void {
  const none = Number.NEGATIVE_INFINITY
  const isLimited = mask !== null || allowedIds !== null
  for (let id = 0; isLimited && id < logits.length; id++) {
    const isMasked = mask !== null && (((mask[id >> 5] ?? 0) >>> (id & 31)) & 1) === 0
    if (isMasked || allowedIds?.has(id) === false) logits[id] = none
  }
  for (const word of badWords) {
    const last = word.at(-1)
    if (last !== undefined && isBegun(word, generated)) logits[last] = none
  }
  if (generated.length < minTokens) for (const id of endIds) logits[id] = none
}

/** Whether the ids end with all of a sequence but its last one. */
function isBegun(sequence: readonly number[], ids: readonly number[]): boolean {
  const end = sequence.length - 1
  const from = ids.length - end
  return from >= 0 && sequence.every((id, place) => place === end || ids[from + place] === id)
}

function penalize(
  logits: Float32Array,
  { repetitionPenalty, frequencyPenalty, presencePenalty }: LogitRules,
  { inPrompt, counts }: TokenHistory,
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

/**
 * The token sequences of each word as it begins a text and as it follows a space. Yields after each word: all of them together would hold the
 * process up for seconds.
 *
 * Spec: §4.3 bad_words.
 * Choice: as in vLLM: space before the word is dropped, and a sequence is banned by its last token
 * wherever the others came before it in the answer. Other tokens of the same word stay possible.
 */
export function* tokenizeBadWords(
  words: readonly string[],
  tokenizer: Tokenizer,
): Generator<Step, number[][], PassLogits> {
  const distinct = new Map<string, number[]>()
  for (const word of words) {
    const bare = word.trimStart()
    for (const text of [bare, ` ${bare}`]) {
      const ids = tokenizer.encode(text)
      distinct.set(ids.join(), ids)
    }
    yield NOTHING
  }
  return [...distinct.values()].filter((ids) => ids.length > 0)
}
