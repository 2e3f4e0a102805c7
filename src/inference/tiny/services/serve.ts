/** The services of the tiny model other than chats, answered as JSON texts: legacy completions, embeddings, tokens. */
import { ApiError, refuse } from '../../../errors.ts'
import type { Delta, RelayedDelta, ServiceCall, ServiceCallOf } from '../../backend.ts'
import type { ChunkOf, EnginePlan } from '../host/engine-work.ts'
import { planPrompt } from '../text/prompt-plan.ts'
import { generateText, type PromptRun, toDelta } from './complete-text.ts'
import { type EmbeddingPlan, toUnitLength } from './embedding.ts'
import { listPrompts, planText, planTextPrompt, type TextPlan } from './text-plan.ts'
import type { TokenPlan, TokensChunk } from './token-text.ts'

/** Runs a plan in the model's process, with the adapter of the call. */
export type Run = <P extends EnginePlan>(plan: P) => AsyncIterable<ChunkOf<P>>

interface ServeOptions {
  readonly run: Run
  readonly drawSeed: () => bigint
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number
}

/** @throws ApiError invalid_value, context_length_exceeded; what `run` throws */
export function serveCall(call: ServiceCall, options: ServeOptions): AsyncIterable<RelayedDelta> {
  if (call.service === 'completions') return completeText(call, options)
  if (call.service === 'embeddings') return embed(call, options)
  if (call.service === 'tokenize') return tokenize(call, options)
  if (call.service === 'detokenize') return detokenize(call, options)
  throw new ApiError('capability_missing', { param: 'model' })
}

async function* completeText(
  call: ServiceCallOf<'completions'>,
  { run, drawSeed, nowMs }: ServeOptions,
): AsyncGenerator<RelayedDelta> {
  const plan = planText(call.request)
  const created = Math.floor(nowMs() / 1000)
  const { requestId, answersAs: model } = call
  const head = { id: `cmpl-${requestId}`, object: 'text_completion', created, model } as const
  yield* generateText(head, plan, runPrompts(call, plan, run, drawSeed))
}

/** One prompt after the other, so that a request never takes more of the queue than one place. */
async function* runPrompts(
  call: ServiceCallOf<'completions'>,
  plan: TextPlan,
  run: Run,
  drawSeed: () => bigint,
): AsyncGenerator<PromptRun> {
  for (const prompt of plan.prompts) {
    const completion = planTextPrompt(call, plan, prompt, drawSeed)
    const isJudged = completion.promptLogprobs !== null
    const tokens = isJudged ? await listTokens({ prompt: completion.prompt }, run) : null
    const deltas: AsyncIterable<Delta> = run(completion)
    yield { tokens: tokens?.ids.length === 0 ? null : tokens, deltas }
  }
}

/** `dimensions` cuts a vector and makes it of length 1 again. */
async function* embed(
  call: ServiceCallOf<'embeddings'>,
  { run }: ServeOptions,
): AsyncGenerator<RelayedDelta> {
  const { input, dimensions, encoding_format: encoding } = call.request
  const plain = { isEchoed: false, addSpecialTokens: false }
  const inputs = listPrompts(input, 'input').map((prompt) => ({ ...prompt, ...plain }))
  const plan: EmbeddingPlan = { kind: 'embedding', inputs, ...SETTINGS }
  const data = []
  let tokens = 0
  for await (const { vector, tokenCount } of run(plan)) {
    tokens += tokenCount
    const cut = cutVector(vector, dimensions ?? vector.length)
    const embedding = encoding === 'base64' ? toBase64(cut) : cut
    data.push({ object: 'embedding', index: data.length, embedding })
  }
  const usage = { prompt_tokens: tokens, total_tokens: tokens }
  yield toDelta({ object: 'list', data, model: call.answersAs, usage })
}

function cutVector(vector: readonly number[], length: number): readonly number[] {
  if (length === vector.length) return vector
  if (length < vector.length) return toUnitLength(vector.slice(0, length))
  const message = `dimensions must be at most ${vector.length}, the length of the model's vectors.`
  refuse('invalid_value', 'dimensions', message)
}

function toBase64(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * Float32Array.BYTES_PER_ELEMENT)
  for (const [place, value] of vector.entries()) bytes.writeFloatLE(value, place * 4)
  return bytes.toString('base64')
}

/**
 * A chat is tokenized as rendered by the template of the model; special tokens are added to a text only on request.
 * Only the fields of the schema are read: a `chat_template` of the client could hold up the shared process for ever.
 */
async function* tokenize(
  call: ServiceCallOf<'tokenize'>,
  { run }: ServeOptions,
): AsyncGenerator<RelayedDelta> {
  const { prompt, messages, return_token_strs, tools, chat_template_kwargs } = call.request
  const { add_special_tokens, add_generation_prompt, continue_final_message } = call.request
  const turn = { add_special_tokens, add_generation_prompt, continue_final_message }
  const addSpecialTokens = add_special_tokens ?? false
  const plain = { isEchoed: false, addSpecialTokens }
  const wanted =
    typeof prompt === 'string'
      ? { plain: prompt, param: 'prompt', ...plain }
      : planPrompt({ messages: messages ?? [], tools, chat_template_kwargs, ...turn })
  const { ids, texts, contextTokens } = await listTokens({ prompt: wanted }, run)
  yield toDelta({
    count: ids.length,
    max_model_len: contextTokens,
    tokens: ids,
    ...(return_token_strs === true ? { token_strs: texts } : {}),
  })
}

async function* detokenize(
  call: ServiceCallOf<'detokenize'>,
  { run }: ServeOptions,
): AsyncGenerator<RelayedDelta> {
  const { text } = await listTokens({ ids: call.request.tokens }, run)
  yield toDelta({ prompt: text })
}

async function listTokens(of: TokenPlan['of'], run: Run): Promise<TokensChunk> {
  const plan: TokenPlan = { kind: 'tokens', of, ...SETTINGS }
  for await (const piece of run(plan)) return piece
  throw new ApiError('internal_error')
}

const SETTINGS = { priority: 0, adapterPath: null }
