/**
 * The completion of one request as a series of small steps: it requests a computation and resumes with the logits, so
 * that the scheduler can batch the steps of many requests into one pass.
 */
import { refuse } from '../../../errors.ts'
import type { ChoiceDelta, Delta, PromptDelta, PromptLogprobs } from '../../backend.ts'
import type { Grammar, GrammarFollower } from '../constraints/grammar-engine.ts'
import type { Engine } from '../host/engine.ts'
import { createKvCache, type KvCache } from '../model/kv-cache.ts'
import { PASS_TOKENS_MAX, type PassLogits } from '../model/transformer.ts'
import { promptTooLong } from '../text/chat-prompt.ts'
import { encodePlain, promptParam, requireIds } from '../text/plain-prompt.ts'
import { describePromptToken } from '../text/prompt-logprobs.ts'
import { type AnswerWriter, createAnswerWriter } from './answer-writer.ts'
import { spellBadWords } from './bad-words.ts'
import { searchBeams } from './beam-search.ts'
import { type Choice, type ChoiceStart, createChoice } from './choice.ts'
import { openChoices } from './choice-opening.ts'
import type { CompletionPlan } from './completion-plan.ts'
import type { Sampled, SamplingParams } from './sampler.ts'
import { type Generation, NOTHING, type Step } from './steps.ts'

/** Choices of one request that grow at a time. Limit: each holds a KV cache, 3 MB at 2,048 tokens. */
const CHOICES_AT_ONCE = 4

/** A prompt that fits. */
interface CheckedPrompt {
  readonly ids: readonly number[]
  /** Tokens of each choice; 0 for an echo alone. */
  readonly tokensMax: number
}

/**
 * Starts a completion: renders and checks the prompt; computes nothing yet.
 *
 * @throws ApiError context_length_exceeded, invalid_value
 *
 * Spec: §4.3 n, max_tokens, max_completion_tokens, seed.
 * Choice: more tokens than the context has left are cut to what it has; the answer then ends by length.
 */
export function createGeneration(engine: Engine, plan: CompletionPlan): Generation {
  checkIds(plan, engine.tokenizer.size)
  return generate(engine, plan, makePrompt(engine, plan))
}

function* generate(engine: Engine, plan: CompletionPlan, prompt: CheckedPrompt): Generation {
  const { constraint } = plan
  if (constraint === null) return yield* answer(engine, plan, prompt, null)
  const engineOpened = yield* settle(engine.grammars())
  const grammar = yield* settle(engineOpened.compile(constraint))
  try {
    return yield* answer(engine, plan, prompt, grammar)
  } finally {
    grammar.end()
  }
}

function* answer(
  engine: Engine,
  plan: CompletionPlan,
  prompt: CheckedPrompt,
  grammar: Grammar | null,
): Generation {
  const read = yield* readPrompt(engine, plan, prompt)
  const opening = openChoices(engine.tokenizer, plan, prompt)
  const said = [read.delta, ...opening.deltas]
  const { tokensMax } = opening
  if (tokensMax === 0) return said
  const params = yield* resolveParams(engine, plan)
  const start = { promptIds: prompt.ids, cache: read.cache, tokensMax, params }
  if (plan.lengthPenalty === null) {
    return yield* sample(engine, plan, { ...start, said, logits: read.logits, grammar })
  }
  const endIds = plan.isEosIgnored ? plan.stopIds : params.endIds
  const search = { width: plan.choices, lengthPenalty: plan.lengthPenalty, endIds }
  yield { deltas: said, parts: [] }
  const beams = yield* searchBeams(engine, { ...start, ...search, logits: read.logits })
  return Array.from({ length: plan.choices }, (_, index) => {
    // If there are fewer answers than choices, the worst one is repeated.
    const tokens = beams[Math.min(index, beams.length - 1)] ?? []
    return writeTokens(createAnswerWriter(engine.tokenizer, plan, index, tokensMax), tokens)
  }).flat()
}

/** Waits for a promise, step by step. @returns its value */
function* settle<T>(promise: Promise<T>): Generator<Step, T, PassLogits> {
  let outcome: (() => T) | null = null
  promise.then(
    (value) => {
      outcome = () => value
    },
    (error: unknown) => {
      outcome = () => {
        throw error
      }
    },
  )
  // The caller lets promises settle between two steps of the generation.
  while (outcome === null) yield NOTHING
  return (outcome as () => T)()
}

interface SampleStart extends Omit<ChoiceStart, 'index' | 'follower'> {
  readonly grammar: Grammar | null
  /** The logits behind the prompt. */
  readonly logits: Float32Array
  /** What is to be said before the first piece. */
  readonly said: readonly Delta[]
}

/** All choices, a few at a time. */
function* sample(
  engine: Engine,
  plan: CompletionPlan,
  { cache, logits, said, grammar, ...start }: SampleStart,
): Generation {
  const followers: GrammarFollower[] = []
  let deltas: Delta[] = [...said]
  let running: Choice[] = []
  let started = 0
  const take = (choice: Choice, from: Float32Array): boolean => {
    const piece = choice.take(from)
    deltas.push(piece)
    return piece.finish_reason === null
  }
  try {
    for (;;) {
      while (running.length < CHOICES_AT_ONCE && started < plan.choices) {
        const index = started++
        // The last choice may use the prompt's own cache, which is not needed after that.
        const own = started === plan.choices ? cache : cache.fork()
        const follower = grammar === null ? null : yield* settle(grammar.follow())
        if (follower !== null) followers.push(follower)
        const choice = createChoice(engine, plan, { ...start, index, cache: own, follower })
        while (!choice.isReady()) yield NOTHING
        if (take(choice, logits)) running.push(choice)
      }
      if (running.length === 0) return deltas
      while (!running.every((choice) => choice.isReady())) {
        yield { deltas, parts: [] }
        deltas = []
      }
      const computed = yield { deltas, parts: running.map((choice) => choice.want()) }
      deltas = []
      running = running.filter((choice, place) => take(choice, lastLogits(computed, place)))
    }
  } finally {
    for (const follower of followers) follower.end()
  }
}

function writeTokens(writer: AnswerWriter, tokens: readonly Sampled[]): ChoiceDelta[] {
  const deltas: ChoiceDelta[] = []
  for (const token of tokens) {
    const delta = writer.write(token, false)
    deltas.push(delta)
    if (delta.finish_reason !== null) return deltas
  }
  return [...deltas, writer.write(null, true)]
}

/** The prompt's cache and the logits behind it. */
function* readPrompt(
  engine: Engine,
  plan: CompletionPlan,
  { ids }: CheckedPrompt,
): Generator<Step, { cache: KvCache; logits: Float32Array; delta: PromptDelta }, PassLogits> {
  const count = plan.promptLogprobs
  // What is remembered of a prompt are not its log-probabilities.
  const cache =
    count === null ? engine.prefixes.open(plan.cacheSalt, ids) : createKvCache(engine.shape)
  const cachedTokens = cache.length
  const entries: PromptLogprobs[number][] = count === null ? [] : [null]
  let logits = new Float32Array()
  while (cache.length < ids.length) {
    const at = cache.length
    const pass = ids.slice(at, at + PASS_TOKENS_MAX)
    const wants = count === null ? 'last' : 'all'
    const computed = yield { deltas: [], parts: [{ ids: pass, cache, wants }] }
    logits = lastLogits(computed, 0).slice()
    if (count === null) continue
    for (const [place, row] of (computed[0] ?? []).entries()) {
      const next = ids[at + place + 1]
      if (next !== undefined) entries.push(describePromptToken(row, next, count, engine.tokenizer))
    }
  }
  engine.prefixes.store(plan.cacheSalt, ids, cache)
  const delta: PromptDelta = {
    type: 'prompt',
    promptTokens: ids.length,
    cachedTokens,
    ...(plan.areIdsReturned ? { promptIds: ids } : {}),
    ...(count === null ? {} : { promptLogprobs: entries }),
  }
  return { cache, logits, delta }
}

/** The logits after the last token of a part. */
function lastLogits(computed: PassLogits, part: number): Float32Array {
  const logits = computed[part]?.at(-1)
  if (logits === undefined) throw new Error('the pass gave no logits')
  return logits
}

function makePrompt(engine: Engine, plan: CompletionPlan): CheckedPrompt {
  const { context } = engine.shape
  const param = promptParam(plan.prompt)
  const ids = encodePrompt(engine, plan)
  if (ids.length >= context) throw promptTooLong(context, ids.length, param)
  if (ids.length === 0) refuse('invalid_value', param, 'The prompt is empty.')
  const room = context - ids.length
  return { ids, tokensMax: Math.min(plan.tokensMax ?? room, room) }
}

/** Without any text a model continues from the token that begins one. */
function encodePrompt({ prompt: chat, shape, tokenizer }: Engine, plan: CompletionPlan): number[] {
  const { prompt } = plan
  if ('plain' in prompt) {
    const addSpecialTokens = prompt.addSpecialTokens || prompt.plain.length === 0
    return encodePlain(tokenizer, { ...prompt, addSpecialTokens }, shape.context)
  }
  const { truncateTo } = prompt
  const answer = Math.min(plan.tokensMax ?? 1, shape.context - 1)
  const tokensKept = truncateTo === -1 ? shape.context - answer : truncateTo
  return chat.encode({ ...prompt, tokensKept })
}

/** Spec: §4.3 min_tokens. Choice: it bans the model's own end tokens with ignore_eos too, as in vLLM. */
function* resolveParams(
  { tokenizer }: Engine,
  plan: CompletionPlan,
): Generator<Step, SamplingParams, PassLogits> {
  const badWords = yield* spellBadWords(plan.badWords, tokenizer)
  return { ...plan.sampling, endIds: [...tokenizer.endIds, ...plan.stopIds], badWords }
}

/** Spec: §4.3. Choice: an id outside the vocabulary is an error, as it could never have an effect. */
function checkIds({ stopIds, sampling }: CompletionPlan, size: number): void {
  requireIds(stopIds, size, 'stop_token_ids')
  requireIds(sampling.allowedIds ?? [], size, 'allowed_token_ids')
  requireIds(sampling.logitBias.keys(), size, 'logit_bias')
}
