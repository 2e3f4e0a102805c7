/**
 * One sampled choice of a completion: token by token, until something ends it. It requests computations from its caller
 * and gets the logits back.
 */
import type { ChoiceDelta } from '../../backend.ts'
import type { GrammarFollower } from '../constraints/grammar-engine.ts'
import type { Engine } from '../host/engine.ts'
import type { KvCache } from '../model/kv-cache.ts'
import type { Part } from '../model/transformer.ts'
import { createChoiceWriter } from './choice-writer.ts'
import type { CompletionPlan } from './completion-plan.ts'
import { createRandom } from './random.ts'
import { createSamplerState, type SamplingParams, sampleToken } from './sampler.ts'

/** One answer under way. */
export interface Choice {
  /** Whether `take` can be called; false while a grammar works out what may come next. */
  isReady(): boolean
  /** Resolves when it may be ready. */
  ready(): Promise<void>
  /** Draws the next token; after the piece with a `finish_reason` it must not be called again. */
  take(logits: Float32Array): ChoiceDelta
  /** What has to be computed for the next token. Only between two calls of `take`. */
  want(): Part
}

/** What all choices of a request share. */
export interface ChoiceStart {
  readonly index: number
  readonly promptIds: readonly number[]
  /** Holds the prompt; the choice owns it. */
  readonly cache: KvCache
  /** Tokens that the choice may have, 1 or more. */
  readonly tokensMax: number
  readonly params: SamplingParams
  /** What the answer is held to, or null. */
  readonly follower: GrammarFollower | null
}

/**
 * A choice right after its prompt: it takes the prompt's logits first.
 *
 * Spec: §4.3 structured_outputs.
 * Choice: where bans leave no token that the grammar allows, the answer ends by length, being unfinished.
 */
export function createChoice(
  { tokenizer }: Engine,
  plan: CompletionPlan,
  { index, promptIds, cache, tokensMax, params, follower }: ChoiceStart,
): Choice {
  const state = createSamplerState(createRandom(plan.seed, index), promptIds, tokenizer.size)
  const writer = createChoiceWriter(tokenizer, plan, index, tokensMax)
  let previous: number | null = null
  return {
    isReady: () => follower === null || follower.mask() !== null,
    ready: async () => await follower?.ready(),
    take(logits) {
      const mask = follower?.mask() ?? null
      const sampled = sampleToken(logits, params, state, mask)
      previous = sampled?.id ?? null
      if (previous !== null) follower?.accept(previous)
      const piece = writer.write(sampled, follower?.isOver() ?? false)
      // An answer that other bans cut off inside its grammar is not a whole one.
      const isCutOff = sampled === null && follower !== null
      return isCutOff ? { ...piece, finish_reason: 'length' } : piece
    },
    want() {
      if (previous === null) throw new Error('the choice has no token to go on from')
      return { ids: [previous], cache, wants: 'last' }
    },
  }
}
