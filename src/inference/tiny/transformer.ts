/**
 * The forward pass of a llama in plain TypeScript: RMSNorm, RoPE on neighbouring pairs, grouped
 * queries with a KV cache, SwiGLU. It must not know tokens' texts, requests or sampling.
 */
import type { KvCache } from './kv-cache.ts'
import type { LayerWeights, Model, ModelShape } from './model.ts'

/** Tokens of one pass at most; longer prompts come in several passes. */
export const PASS_TOKENS_MAX = 32

/** The network of one model. */
export interface Transformer {
  /**
   * Runs the tokens that follow what the cache holds, and appends them to it.
   *
   * @param ids - 1..PASS_TOKENS_MAX ids within the vocabulary
   * @returns the logits after the last token: a view that the next call overwrites
   * @throws RangeError when the context is full or the pass is too long
   */
  forward(ids: readonly number[], cache: KvCache): Float32Array
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
    forward(ids, cache) {
      if (ids.length < 1 || ids.length > PASS_TOKENS_MAX) throw new RangeError('bad pass length')
      const start = cache.length
      cache.reserve(ids.length)
      const { x, normed, added, gate, up, logits } = scratch
      for (const [row, id] of ids.entries()) {
        x.set(model.embedding.subarray(id * shape.width, (id + 1) * shape.width), row * shape.width)
      }
      for (const [index, layer] of model.layers.entries()) {
        attend(shape, layer, scratch, angles, cache, { index, start, count: ids.length })
        normalize(normed, x, layer.hiddenNorm, ids.length, shape.epsilon)
        multiply(gate, normed, layer.gate, shape.hidden, shape.width, ids.length)
        multiply(up, normed, layer.up, shape.hidden, shape.width, ids.length)
        activate(gate, up, shape.hidden * ids.length)
        multiply(added, gate, layer.down, shape.width, shape.hidden, ids.length)
        addTo(x, added, shape.width * ids.length)
      }
      cache.length = start + ids.length
      const last = x.subarray((ids.length - 1) * shape.width, ids.length * shape.width)
      normalize(normed, last, model.outputNorm, 1, shape.epsilon)
      multiply(logits, normed, model.output, shape.vocab, shape.width, 1)
      return logits
    },
  }
}

interface Pass {
  /** Number of the layer. */
  readonly index: number
  /** Position of the first token. */
  readonly start: number
  readonly count: number
}

/** Adds one layer's attention to `scratch.x`, and the new keys and values to the cache. */
function attend(
  shape: ModelShape,
  layer: LayerWeights,
  scratch: Scratch,
  angles: Angles,
  cache: KvCache,
  { index, start, count }: Pass,
): void {
  const { x, normed, query, key, value, mixed, added } = scratch
  const queries = shape.heads * shape.headSize
  const keys = shape.kvHeads * shape.headSize
  normalize(normed, x, layer.attentionNorm, count, shape.epsilon)
  multiply(query, normed, layer.query, queries, shape.width, count)
  multiply(key, normed, layer.key, keys, shape.width, count)
  multiply(value, normed, layer.value, keys, shape.width, count)
  for (let row = 0; row < count; row++) {
    rotate(query, row * queries, queries, start + row, shape.headSize, angles)
    rotate(key, row * keys, keys, start + row, shape.headSize, angles)
  }
  const stored = cache.layer(index)
  stored.keys.set(key.subarray(0, count * keys), start * keys)
  stored.values.set(value.subarray(0, count * keys), start * keys)
  const group = shape.heads / shape.kvHeads
  for (let row = 0; row < count; row++) {
    for (let head = 0; head < shape.heads; head++) {
      const shared = Math.floor(head / group) * shape.headSize
      const at = row * queries + head * shape.headSize
      mixHead(shape.headSize, keys, start + row + 1, stored, scratch, at, shared)
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

/** Each row divided by its root mean square, times the weights. */
function normalize(
  out: Float32Array,
  x: Float32Array,
  weights: Float32Array,
  rows: number,
  epsilon: number,
): void {
  const width = weights.length
  for (let row = 0; row < rows; row++) {
    const from = row * width
    const scale = 1 / Math.sqrt(dot(x, from, x, from, width) / width + epsilon)
    for (let i = 0; i < width; i++) out[from + i] = (x[from + i] ?? 0) * scale * (weights[i] ?? 0)
  }
}

/**
 * out[token][row] = matrix[row] . x[token]. Four rows go side by side: each number of x is read once
 * for them, and no addition waits for the one before. A row's sum is the same however many tokens
 * there are, so a prompt gives the same logits in passes of any length.
 */
function multiply(
  out: Float32Array,
  x: Float32Array,
  matrix: Float32Array,
  rows: number,
  columns: number,
  tokens: number,
): void {
  const whole = rows - (rows % 4)
  for (let row = 0; row < whole; row += 4) {
    const r0 = row * columns
    const r1 = r0 + columns
    const r2 = r1 + columns
    const r3 = r2 + columns
    for (let token = 0; token < tokens; token++) {
      const start = token * columns
      let s0 = 0
      let s1 = 0
      let s2 = 0
      let s3 = 0
      for (let i = 0; i < columns; i++) {
        const value = x[start + i] as number
        s0 += (matrix[r0 + i] as number) * value
        s1 += (matrix[r1 + i] as number) * value
        s2 += (matrix[r2 + i] as number) * value
        s3 += (matrix[r3 + i] as number) * value
      }
      const at = token * rows + row
      out[at] = s0
      out[at + 1] = s1
      out[at + 2] = s2
      out[at + 3] = s3
    }
  }
  for (let row = whole; row < rows; row++) {
    for (let token = 0; token < tokens; token++) {
      out[token * rows + row] = dot(matrix, row * columns, x, token * columns, columns)
    }
  }
}

/** Four sums at once, so that no addition waits for the one before. */
function dot(a: Float32Array, from: number, b: Float32Array, start: number, size: number): number {
  let s0 = 0
  let s1 = 0
  let s2 = 0
  let s3 = 0
  let i = 0
  for (; i + 3 < size; i += 4) {
    s0 += (a[from + i] as number) * (b[start + i] as number)
    s1 += (a[from + i + 1] as number) * (b[start + i + 1] as number)
    s2 += (a[from + i + 2] as number) * (b[start + i + 2] as number)
    s3 += (a[from + i + 3] as number) * (b[start + i + 3] as number)
  }
  for (; i < size; i++) s0 += (a[from + i] as number) * (b[start + i] as number)
  return s0 + s1 + (s2 + s3)
}

/** SwiGLU: gate = silu(gate) * up. */
function activate(gate: Float32Array, up: Float32Array, length: number): void {
  for (let i = 0; i < length; i++) {
    const g = gate[i] ?? 0
    gate[i] = (g / (1 + Math.exp(-g))) * (up[i] ?? 0)
  }
}

function addTo(x: Float32Array, added: Float32Array, length: number): void {
  for (let i = 0; i < length; i++) x[i] = (x[i] ?? 0) + (added[i] ?? 0)
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
    logits: new Float32Array(shape.vocab),
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
