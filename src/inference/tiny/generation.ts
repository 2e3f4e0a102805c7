/**
 * One request's completion, cut into small steps so that others can take turns with it.
 * A step must stay short: a pass over part of the prompt, or one token of one choice.
 */
import { ApiError } from '../../errors.ts'
import type { Delta } from '../backend.ts'
import { promptTooLong } from './chat-prompt.ts'
import { type Choice, createChoice } from './choice.ts'
import type { CompletionPlan } from './completion-plan.ts'
import type { Engine } from './engine.ts'
import { createKvCache } from './kv-cache.ts'
import { PASS_TOKENS_MAX } from './transformer.ts'

/** Choices of one request that grow at a time. Limit: each holds a KV cache, 3 MB at 2,048 tokens. */
export const CHOICES_AT_ONCE = 4

/** One request under way. */
export interface Generation {
  /** Works a little. Returns what there is to say, and whether that was all. */
  step(): { readonly delta: Delta | null; readonly isDone: boolean }
}

/**
 * A completion at its start: the prompt is made and checked, nothing is computed yet.
 *
 * @throws ApiError context_length_exceeded, invalid_value
 *
 * Spec: §4.3 n, max_tokens, max_completion_tokens, seed.
 * Choice: more tokens than the context has left are cut to what it has; the answer then ends by length.
 */
export function createGeneration(engine: Engine, plan: CompletionPlan): Generation {
  checkIds(plan, engine.tokenizer.size)
  const promptIds = engine.prompt.encode(plan.messages, plan.addGenerationPrompt)
  const { context } = engine.shape
  if (promptIds.length >= context) throw promptTooLong(context, promptIds.length)
  if (promptIds.length === 0) {
    throw new ApiError('invalid_value', { message: 'The prompt is empty.', param: 'messages' })
  }
  const room = context - promptIds.length
  const tokensMax = Math.min(plan.tokensMax ?? room, room)
  const base = createKvCache(engine.shape)
  const running: Choice[] = []
  let logits = new Float32Array()
  let started = 0

  function readPrompt(): Delta | null {
    const pass = promptIds.slice(base.length, base.length + PASS_TOKENS_MAX)
    logits = engine.transformer.forward(pass, base).slice()
    if (base.length < promptIds.length) return null
    return { type: 'prompt', promptTokens: promptIds.length, cachedTokens: 0 }
  }

  function nextChoice(): Choice {
    const waiting = running.length < CHOICES_AT_ONCE && started < plan.choices
    const choice = waiting ? null : running.shift()
    if (choice) return choice
    const index = started++
    // The last choice may have the prompt's own cache; nobody needs it after that.
    const cache = started === plan.choices ? base : base.fork()
    return createChoice(engine, plan, { index, promptIds, cache, logits, tokensMax })
  }

  return {
    step() {
      if (base.length < promptIds.length) return { delta: readPrompt(), isDone: false }
      const choice = nextChoice()
      const delta = choice.step()
      if (delta.finish_reason === null) running.push(choice)
      return { delta, isDone: running.length === 0 && started === plan.choices }
    },
  }
}

/** Spec: §4.3. Choice: an id outside of the vocabulary is an error, as it could never have an effect. */
function checkIds({ stopIds, sampling }: CompletionPlan, size: number): void {
  const lists = [
    ['stop_token_ids', stopIds],
    ['allowed_token_ids', sampling.allowedIds ?? []],
    ['logit_bias', sampling.logitBias.keys()],
  ] as const
  for (const [param, ids] of lists) {
    for (const id of ids) {
      if (id < size) continue
      throw new ApiError('invalid_value', {
        message: `${param} names the token id ${id}; the vocabulary has ids 0 to ${size - 1}.`,
        param,
      })
    }
  }
}
