/**
 * The forward pass of a llama: RMSNorm, RoPE on neighbouring pairs, grouped
 * queries with a KV cache, SwiGLU. It must not know tokens' texts, requests or sampling.
 */
import { attend, sizesOf } from './attention.ts'
import type { KvCache } from './kv-cache.ts'
import { type Angles, activate, makeAngles, normalize, rotate } from './layer-math.ts'
import { addTo, multiply } from './matrix.ts'
import type { LayerWeights, Model, ModelShape } from './model.ts'

/** Tokens of one pass at most; longer prompts come in several passes. */
export const PASS_TOKENS_MAX = 32

/** Tokens of one sequence that are run in a pass. */
export interface Part {
  /** At least one, within the vocabulary; they follow what the cache holds. */
  readonly ids: readonly number[]
  /** The tokens are appended to it. No two parts of a pass may share one. */
  readonly cache: KvCache
  /** After which tokens logits are wanted; `states`: what the last layer makes of each token, in their place. */
  readonly wants: 'last' | 'all' | 'states'
}

/** The requested logits or states of each part: views that the next pass overwrites. */
export type PassLogits = readonly (readonly Float32Array[])[]

/** The network of one model. */
export interface Transformer {
  /**
   * Runs one pass. A sequence gets the same logits whatever else is in the pass.
   *
   * @param parts - 1..PASS_TOKENS_MAX tokens together
   * @throws RangeError when a context is full or the pass is too long
   */
  run(parts: readonly Part[]): PassLogits
}

/** A part with the places of its tokens among those of the pass. */
interface Run extends Part {
  /** The first of its tokens. */
  readonly row: number
}

/** Working memory, reused by every pass: one row per token, and the attention weights of one head. */
type Scratch = ReturnType<typeof createScratch>

/** A transformer over a model. Passes must not overlap, for they share their working memory. */
export function createTransformer(model: Model): Transformer {
  const { shape, layers, embedding } = model
  const { width, hidden, epsilon } = shape
  const scratch = createScratch(shape)
  const angles = makeAngles(shape.context, shape.headSize, shape.ropeBase)
  return {
    run(parts) {
      const { runs, count } = toRuns(parts)
      const { x, normed, added, gate, up } = scratch
      for (const { ids, row } of runs) {
        for (const [place, id] of ids.entries()) {
          x.set(embedding.subarray(id * width, (id + 1) * width), (row + place) * width)
        }
      }
      for (const [index, layer] of layers.entries()) {
        attendAll(shape, layer, scratch, angles, runs, count, index)
        normalize(normed, x, layer.hiddenNorm, count, epsilon)
        multiply(gate, normed, layer.gate, hidden, width, count)
        multiply(up, normed, layer.up, hidden, width, count)
        activate(gate, gate, up, count * hidden)
        multiply(added, gate, layer.down, width, hidden, count)
        addTo(x, added, count * width)
      }
      for (const { cache, ids } of parts) cache.length += ids.length
      return readLogits(model, scratch, runs)
    },
  }
}

function createScratch(shape: ModelShape) {
  const { queries, keys } = sizesOf(shape)
  const rows = (width: number): Float32Array => new Float32Array(PASS_TOKENS_MAX * width)
  return {
    x: rows(shape.width),
    normed: rows(shape.width),
    added: rows(shape.width),
    query: rows(queries),
    key: rows(keys),
    value: rows(keys),
    mixed: rows(queries),
    gate: rows(shape.hidden),
    up: rows(shape.hidden),
    logits: rows(shape.vocab),
    weights: new Float32Array(shape.context),
  }
}

/** Concatenates the parts and reserves space for them in their caches. */
function toRuns(parts: readonly Part[]): { runs: readonly Run[]; count: number } {
  let count = 0
  const runs = parts.map((part) => {
    const row = count
    count += part.ids.length
    return { ...part, row }
  })
  const isFilled = parts.every(({ ids }) => ids.length > 0)
  if (count < 1 || count > PASS_TOKENS_MAX || !isFilled) throw new RangeError('bad pass length')
  for (const { cache, ids } of parts) cache.reserve(ids.length)
  return { runs, count }
}

/** The logits of the wanted tokens, sorted into the parts. */
function readLogits(
  { shape: { width, vocab, epsilon }, outputNorm, output }: Model,
  { x, normed, logits }: Scratch,
  runs: readonly Run[],
): PassLogits {
  let count = 0
  for (const { ids, row, wants } of runs) {
    // Rows only move towards the start, so none is overwritten before it is read.
    for (let place = wants === 'last' ? ids.length - 1 : 0; place < ids.length; place++) {
      const from = (row + place) * width
      x.copyWithin(count++ * width, from, from + width)
    }
  }
  normalize(normed, x, outputNorm, count, epsilon)
  if (runs.some(({ wants }) => wants !== 'states')) {
    multiply(logits, normed, output, vocab, width, count)
  }
  let place = 0
  return runs.map(({ ids, wants }) => {
    const [rows, size] = wants === 'states' ? [normed, width] : [logits, vocab]
    return Array.from({ length: wants === 'last' ? 1 : ids.length }, () =>
      rows.subarray(place * size, ++place * size),
    )
  })
}

/** Adds one layer's attention to `scratch.x`, and the new keys and values to the caches. */
function attendAll(
  shape: ModelShape,
  layer: LayerWeights,
  scratch: Scratch,
  angles: Angles,
  runs: readonly Run[],
  count: number,
  index: number,
): void {
  const { width } = shape
  const { queries, keys } = sizesOf(shape)
  const { x, normed, query, key, value, mixed, added } = scratch
  normalize(normed, x, layer.attentionNorm, count, shape.epsilon)
  multiply(query, normed, layer.query, queries, width, count)
  multiply(key, normed, layer.key, keys, width, count)
  multiply(value, normed, layer.value, keys, width, count)
  for (const run of runs) attendRun(shape, scratch, angles, run, index)
  multiply(added, mixed, layer.attentionOut, width, queries, count)
  addTo(x, added, count * width)
}

/** The attention of one sequence's tokens, from `scratch.query` to `scratch.mixed`. */
function attendRun(
  shape: ModelShape,
  { query, key, value, mixed, weights }: Scratch,
  angles: Angles,
  { row, ids, cache }: Run,
  index: number,
): void {
  const sizes = sizesOf(shape)
  const { size, queries, keys } = sizes
  const stored = cache.layer(index)
  for (let place = 0; place < ids.length; place++) {
    const position = cache.length + place
    const own = (row + place) * keys
    rotate(query, (row + place) * queries, queries, size, position, angles, 1)
    rotate(key, own, keys, size, position, angles, 1)
    stored.keys.set(key.subarray(own, own + keys), position * keys)
    stored.values.set(value.subarray(own, own + keys), position * keys)
  }
  for (let place = 0; place < ids.length; place++) {
    const count = cache.length + place + 1
    const seen = { before: count, start: count, count }
    attend(mixed, query, (row + place) * queries, stored, sizes, seen, weights)
  }
}
