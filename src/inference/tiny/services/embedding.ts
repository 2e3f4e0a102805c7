/**
 * Embeddings of texts: the outputs of the last layer, averaged over the tokens and normalized to length 1. The model
 * was not trained for embeddings: texts with the same words are close to each other, and no more.
 */
import { refuse } from '../../../errors.ts'
import type { Engine } from '../host/engine.ts'
import { createKvCache } from '../model/kv-cache.ts'
import { PASS_TOKENS_MAX } from '../model/transformer.ts'
import { type Generation, NOTHING } from '../sampling/steps.ts'
import { promptTooLong } from '../text/chat-prompt.ts'
import { encodePlain, type PlainPrompt } from '../text/plain-prompt.ts'

export interface EmbeddingPlan {
  readonly kind: 'embedding'
  /** At least one. */
  readonly inputs: readonly PlainPrompt[]
  readonly priority: number
  readonly adapterPath: string | null
}

/** One text's vector; they come in the order of the texts. */
export interface VectorChunk {
  readonly type: 'vector'
  readonly vector: readonly number[]
  readonly tokenCount: number
}

/** Limit: tokens of all texts of a request. */
const TOKENS_MAX = 32_768

/** All texts are checked before the first one is embedded. @throws ApiError context_length_exceeded, invalid_value */
export function* embedTexts(engine: Engine, { inputs }: EmbeddingPlan): Generation<VectorChunk> {
  const texts: number[][] = []
  let tokensLeft = TOKENS_MAX
  for (const input of inputs) {
    const ids = encodeInput(engine, input)
    tokensLeft -= ids.length
    if (tokensLeft < 0) refuseMany()
    texts.push(ids)
    // Yields to other requests between two texts.
    yield NOTHING
  }
  for (const ids of texts) {
    const vector = toUnitLength(yield* sumStates(engine, ids))
    yield { deltas: [{ type: 'vector', vector, tokenCount: ids.length }], parts: [] }
  }
  return []
}

function encodeInput({ shape, tokenizer }: Engine, input: PlainPrompt): number[] {
  const { param } = input
  const ids = encodePlain(tokenizer, input, shape.context)
  if (ids.length > shape.context) throw promptTooLong(shape.context, ids.length, param)
  if (ids.length > 0) return ids
  refuse('invalid_value', param, `${param} is empty.`)
}

function refuseMany(): never {
  const message = `The texts make up more than ${TOKENS_MAX} tokens together: send fewer at a time.`
  refuse('invalid_value', 'input', message)
}

function* sumStates(
  { shape }: Engine,
  ids: readonly number[],
): Generation<VectorChunk, Float64Array> {
  const sum = new Float64Array(shape.width)
  const cache = createKvCache(shape)
  for (let at = 0; at < ids.length; at += PASS_TOKENS_MAX) {
    const pass = ids.slice(at, at + PASS_TOKENS_MAX)
    const [states = []] = yield { deltas: [], parts: [{ ids: pass, cache, wants: 'states' }] }
    for (const state of states) {
      for (const [place, value] of state.entries()) sum[place] = (sum[place] ?? 0) + value
    }
  }
  return sum
}

/**
 * The vector in the same direction whose length is 1, in numbers of 32 bits, which both encodings hold. The mean has
 * the direction of the sum.
 */
export function toUnitLength(values: ArrayLike<number>): number[] {
  const numbers = Array.from(values)
  const length = Math.sqrt(numbers.reduce((sum, value) => sum + value * value, 0))
  return numbers.map((value) => Math.fround(length === 0 ? 0 : value / length))
}
