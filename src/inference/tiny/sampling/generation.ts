/**
 * The completion of one request as a series of small steps: it requests a computation and resumes with the logits, so
 * that the scheduler can batch the steps of many requests into one pass.
 */
import { refuse } from '../../../errors.ts'
import type { ChoiceDelta, Delta, PromptDelta, PromptLogprobs } from '../../backend.ts'
import type { Grammar, GrammarFollower, Turn } from '../constraints/grammar-engine.ts'
import type { Engine } from '../host/engine.ts'
import { createKvCache, type KvCache } from '../model/kv-cache.ts'
import { PASS_TOKENS_MAX, type PassLogits } from '../model/transformer.ts'
import { type PromptPlan, promptTooLong } from '../text/chat-prompt.ts'
import { encodePlain, promptParam, requireIds } from '../text/plain-prompt.ts'
import { describePromptToken } from '../text/prompt-logprobs.ts'
import type { PromptRequest } from '../text/prompt-plan.ts'
import { searchBeams } from './beam-search.ts'
import { type Choice, type ChoiceStart, createChoice } from './choice.ts'
import { openChoices } from './choice-opening.ts'
import { type ChoiceWriter, createChoiceWriter } from './choice-writer.ts'
import type { CompletionPlan } from './completion-plan.ts'
import type { Sampled, SamplingParams } from './sampler.ts'
import type { Generation, Step } from './steps.ts'
import { tokenizeBadWords } from './vocabulary-limits.ts'

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
export function createGeneration(engine: Engine, plan: CompletionPlan, owner = ''): Generation {
  checkIds(plan, engine.tokenizer.size)
  const { prompt } = plan
  const isIsolated = engine.threads !== null && !('plain' in prompt) && prompt.template !== null
  return generate(engine, plan, isIsolated ? null : makePrompt(engine, plan), owner)
}

/** @param made - the prompt, or null for one that a thread renders */
function* generate(
  engine: Engine,
  plan: CompletionPlan,
  made: CheckedPrompt | null,
  owner: string,
): Generation {
  const { constraint, priority } = plan
  const ending = new AbortController()
  const turn: Turn = { owner, priority, signal: ending.signal }
  let grammar: Grammar | null = null
  try {
    const prompt = made ?? (yield* makeClientPrompt(engine, plan, turn))
    if (constraint !== null) {
      const opened = yield* settle(engine.grammars())
      grammar = yield* settle(opened.compile(constraint, turn))
    }
    return yield* answer(engine, plan, prompt, grammar)
  } finally {
    ending.abort()
    grammar?.end()
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
    return writeTokens(createChoiceWriter(engine.tokenizer, plan, index, tokensMax), tokens)
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
  while (outcome === null) yield { deltas: [], parts: [], waitsFor: promise }
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
        while (!choice.isReady()) yield { deltas: [], parts: [], waitsFor: choice.ready() }
        if (take(choice, logits)) running.push(choice)
      }
      if (running.length === 0) return deltas
      while (!running.every((choice) => choice.isReady())) {
        yield { deltas, parts: [], waitsFor: Promise.all(running.map((choice) => choice.ready())) }
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

function writeTokens(writer: ChoiceWriter, tokens: readonly Sampled[]): ChoiceDelta[] {
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
  const cache = createKvCache(engine.shape)
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
  const delta: PromptDelta = {
    type: 'prompt',
    promptTokens: ids.length,
    cachedTokens: 0,
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
  return checkPrompt(engine, plan, encodePrompt(engine, plan))
}

/** A prompt whose template a thread renders. */
function* makeClientPrompt(
  engine: Engine,
  plan: CompletionPlan,
  turn: Turn,
): Generator<Step, CheckedPrompt, PassLogits> {
  const { prompt } = plan
  const { threads } = engine
  if ('plain' in prompt || prompt.template === null || threads === null)
    return makePrompt(engine, plan)
  const { variables, toIds } = engine.prompt.open(limitPrompt(engine, plan, prompt))
  const rendered = yield* settle(threads.render(prompt.template, variables, turn))
  return checkPrompt(engine, plan, toIds(rendered))
}

function checkPrompt(engine: Engine, plan: CompletionPlan, ids: readonly number[]): CheckedPrompt {
  const { context } = engine.shape
  const param = promptParam(plan.prompt)
  if (ids.length >= context) throw promptTooLong(context, ids.length, param)
  if (ids.length === 0) refuse('invalid_value', param, 'The prompt is empty.')
  const room = context - ids.length
  return { ids, tokensMax: Math.min(plan.tokensMax ?? room, room) }
}

/** Without any text a model continues from the token that begins one. */
function encodePrompt(engine: Engine, plan: CompletionPlan): number[] {
  const { prompt } = plan
  if (!('plain' in prompt)) return engine.prompt.encode(limitPrompt(engine, plan, prompt))
  const addSpecialTokens = prompt.addSpecialTokens || prompt.plain.length === 0
  return encodePlain(engine.tokenizer, { ...prompt, addSpecialTokens }, engine.shape.context)
}

function limitPrompt({ shape }: Engine, plan: CompletionPlan, prompt: PromptRequest): PromptPlan {
  const { truncateTo } = prompt
  const answer = Math.min(plan.tokensMax ?? 1, shape.context - 1)
  const tokensKept = truncateTo === -1 ? shape.context - answer : truncateTo
  return { ...prompt, tokensKept }
}

/** Spec: §4.3 min_tokens. Choice: it bans the model's own end tokens with ignore_eos too, as in vLLM. */
function* resolveParams(
  { tokenizer }: Engine,
  plan: CompletionPlan,
): Generator<Step, SamplingParams, PassLogits> {
  const badWords = yield* tokenizeBadWords(plan.badWords, tokenizer)
  return { ...plan.sampling, endIds: [...tokenizer.endIds, ...plan.stopIds], badWords }
}

/** Spec: §4.3. Choice: an id outside the vocabulary is an error, as it could never have an effect. */
function checkIds({ stopIds, sampling }: CompletionPlan, size: number): void {
  requireIds(stopIds, size, 'stop_token_ids')
  requireIds(sampling.allowedIds ?? [], size, 'allowed_token_ids')
  requireIds(sampling.logitBias.keys(), size, 'logit_bias')
}
