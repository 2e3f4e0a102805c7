/**
 * The forward pass of a llama in plain TypeScript: RMSNorm, RoPE on neighbouring pairs, grouped
 * queries with a KV cache, SwiGLU. It must not know tokens' texts, requests or sampling.
 */
import { activate, addTo, dot, multiply, normalize } from './kernels.ts'
import type { KvCache } from './kv-cache.ts'
import type { LayerWeights, Model, ModelShape } from './model.ts'

/** Tokens of one pass at most; longer prompts come in several passes. */
export const PASS_TOKENS_MAX = 32

/** Tokens of one sequence that are run in a pass. */
export interface Part {
  /** At least one, within the vocabulary; they follow what the cache holds. */
  readonly ids: readonly number[]
  /** The tokens are appended to it. No two parts of a pass may share one. */
  readonly cache: KvCache
  /** After which tokens logits are wanted. */
  readonly wants: 'last' | 'all'
}

/** For each part the logits that it wants: views that the next pass overwrites. */
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

/** A token of the pass: its sequence's memory and its place in it. */
interface Row {
  readonly id: number
  readonly cache: KvCache
  readonly position: number
  readonly isWanted: boolean
}

/** Working memory, reused by every pass. Each buffer has one row per token of the pass. */
interface Scratch {
  readonly x: Float32Array
  readonly normed: Float32Array
  readonly query: Float32Array
  readonly key: Float32Array
  readonly value: Float32Array
  readonly mixed: Float32Array
  readonly added: Float32Array
  readonly gate: Float32Array
  readonly up: Float32Array
  readonly scores: Float32Array
  readonly logits: Float32Array
}

interface Angles {
  readonly cos: Float32Array
  readonly sin: Float32Array
}

/** A transformer over a model; passes must not overlap, for they share their working memory. */
export function createTransformer(model: Model): Transformer {
  const { shape } = model
  const scratch = makeScratch(shape)
  const angles = makeAngles(shape)
  return {
    run(parts) {
      const rows = toRows(parts)
      const { x, normed, added, gate, up } = scratch
      for (const [row, { id }] of rows.entries()) {
        x.set(model.embedding.subarray(id * shape.width, (id + 1) * shape.width), row * shape.width)
      }
      for (const [index, layer] of model.layers.entries()) {
        attend(shape, layer, scratch, angles, rows, index)
        normalize(normed, x, layer.hiddenNorm, rows.length, shape.epsilon)
        multiply(gate, normed, layer.gate, shape.hidden, shape.width, rows.length)
        multiply(up, normed, layer.up, shape.hidden, shape.width, rows.length)
        activate(gate, up, shape.hidden * rows.length)
        multiply(added, gate, layer.down, shape.width, shape.hidden, rows.length)
        addTo(x, added, shape.width * rows.length)
      }
      for (const { cache, ids } of parts) cache.length += ids.length
      return readLogits(model, scratch, rows, parts)
    },
  }
}

/** The tokens of a pass, with room made for them. */
function toRows(parts: readonly Part[]): Row[] {
  const count = parts.reduce((sum, { ids }) => sum + ids.length, 0)
  const isFilled = parts.every(({ ids }) => ids.length > 0)
  if (count < 1 || count > PASS_TOKENS_MAX || !isFilled) throw new RangeError('bad pass length')
  return parts.flatMap(({ ids, cache, wants }) => {
    cache.reserve(ids.length)
    return ids.map((id, place) => ({
      id,
      cache,
      position: cache.length + place,
      isWanted: wants === 'all' || place === ids.length - 1,
    }))
  })
}

/** The logits of the wanted rows, sorted into the parts. */
function readLogits(
  { shape, outputNorm, output }: Model,
  { x, normed, logits }: Scratch,
  rows: readonly Row[],
  parts: readonly Part[],
): PassLogits {
  let count = 0
  for (const [row, { isWanted }] of rows.entries()) {
    // Rows only move towards the start, so none is overwritten before it is read.
    if (isWanted) x.copyWithin(count++ * shape.width, row * shape.width, (row + 1) * shape.width)
  }
  normalize(normed, x, outputNorm, count, shape.epsilon)
  multiply(logits, normed, output, shape.vocab, shape.width, count)
  let at = 0
  return parts.map(({ ids, wants }) =>
    Array.from({ length: wants === 'all' ? ids.length : 1 }, () =>
      logits.subarray(at * shape.vocab, ++at * shape.vocab),
    ),
  )
}

/** Adds one layer's attention to `scratch.x`, and the new keys and values to the cache. */
function attend(
  shape: ModelShape,
  layer: LayerWeights,
  scratch: Scratch,
  angles: Angles,
  rows: readonly Row[],
  index: number,
): void {
  const { x, normed, query, key, value, mixed, added } = scratch
  const queries = shape.heads * shape.headSize
  const keys = shape.kvHeads * shape.headSize
  const count = rows.length
  normalize(normed, x, layer.attentionNorm, count, shape.epsilon)
  multiply(query, normed, layer.query, queries, shape.width, count)
  multiply(key, normed, layer.key, keys, shape.width, count)
  multiply(value, normed, layer.value, keys, shape.width, count)
  for (const [row, { cache, position }] of rows.entries()) {
    rotate(query, row * queries, queries, position, shape.headSize, angles)
    rotate(key, row * keys, keys, position, shape.headSize, angles)
    const stored = cache.layer(index)
    stored.keys.set(key.subarray(row * keys, (row + 1) * keys), position * keys)
    stored.values.set(value.subarray(row * keys, (row + 1) * keys), position * keys)
  }
  const group = shape.heads / shape.kvHeads
  for (const [row, { cache, position }] of rows.entries()) {
    const stored = cache.layer(index)
    for (let head = 0; head < shape.heads; head++) {
      const shared = Math.floor(head / group) * shape.headSize
      const at = row * queries + head * shape.headSize
      mixHead(shape.headSize, keys, position + 1, stored, scratch, at, shared)
    }
  }
  multiply(added, mixed, layer.attentionOut, shape.width, queries, count)
  addTo(x, added, shape.width * count)
}

/** One head of one token: the values of all positions, weighted by how well the keys fit. */
function mixHead(
  size: number,
  stride: number,
  positions: number,
  { keys, values }: { readonly keys: Float32Array; readonly values: Float32Array },
  { query, mixed, scores }: Scratch,
  at: number,
  shared: number,
): void {
  const scale = 1 / Math.sqrt(size)
  let max = Number.NEGATIVE_INFINITY
  for (let p = 0; p < positions; p++) {
    const score = dot(query, at, keys, p * stride + shared, size) * scale
    scores[p] = score
    if (score > max) max = score
  }
  let sum = 0
  for (let p = 0; p < positions; p++) {
    const weight = Math.exp((scores[p] ?? 0) - max)
    scores[p] = weight
    sum += weight
  }
  mixed.fill(0, at, at + size)
  for (let p = 0; p < positions; p++) {
    const weight = (scores[p] ?? 0) / sum
    const from = p * stride + shared
    for (let i = 0; i < size; i++) {
      mixed[at + i] = (mixed[at + i] ?? 0) + weight * (values[from + i] ?? 0)
    }
  }
}

/** Turns each pair of neighbours by the angles of its position. */
function rotate(
  vector: Float32Array,
  from: number,
  length: number,
  position: number,
  headSize: number,
  { cos, sin }: Angles,
): void {
  const half = headSize / 2
  for (let i = 0; i < length; i += 2) {
    const angle = position * half + ((i % headSize) >> 1)
    const c = cos[angle] ?? 0
    const s = sin[angle] ?? 0
    const even = vector[from + i] ?? 0
    const odd = vector[from + i + 1] ?? 0
    vector[from + i] = even * c - odd * s
    vector[from + i + 1] = even * s + odd * c
  }
}

function makeScratch(shape: ModelShape): Scratch {
  const rows = (size: number): Float32Array => new Float32Array(size * PASS_TOKENS_MAX)
  return {
    x: rows(shape.width),
    normed: rows(shape.width),
    query: rows(shape.width),
    key: rows(shape.kvHeads * shape.headSize),
    value: rows(shape.kvHeads * shape.headSize),
    mixed: rows(shape.width),
    added: rows(shape.width),
    gate: rows(shape.hidden),
    up: rows(shape.hidden),
    scores: new Float32Array(shape.context),
    logits: rows(shape.vocab),
  }
}

function makeAngles({ context, headSize, ropeBase }: ModelShape): Angles {
  const half = headSize / 2
  const cos = new Float32Array(context * half)
  const sin = new Float32Array(context * half)
  for (let position = 0; position < context; position++) {
    for (let i = 0; i < half; i++) {
      const angle = position * ropeBase ** (-i / half)
      cos[position * half + i] = Math.cos(angle)
      sin[position * half + i] = Math.sin(angle)
    }
  }
  return { cos, sin }
}
