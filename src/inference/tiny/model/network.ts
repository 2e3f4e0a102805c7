/**
 * A model's weights in the memory of the kernels, and the working memory of its passes beside them.
 */
import type { LayerWeights, Model, ModelShape } from './model.ts'
import { type History, type Matrix, planMemory, type Rows, type SimdMemory } from './simd-memory.ts'

/** One layer: its matrices in the memory, its norms beside it. */
export interface PlacedLayer {
  readonly attentionNorm: Float32Array
  readonly query: Matrix
  readonly key: Matrix
  readonly value: Matrix
  readonly attentionOut: Matrix
  readonly hiddenNorm: Float32Array
  readonly gate: Matrix
  readonly up: Matrix
  readonly down: Matrix
}

/** Working memory, reused by every pass. */
export interface Scratch {
  readonly x: Rows
  readonly normed: Rows
  readonly query: Rows
  readonly key: Rows
  readonly value: Rows
  readonly mixed: Rows
  readonly added: Rows
  readonly gate: Rows
  readonly up: Rows
  readonly logits: Rows
  /** Keys and values of the sequence that attention is at. */
  readonly keys: History
  readonly values: History
}

/** A model that is ready to compute. */
export interface Network {
  readonly shape: ModelShape
  readonly memory: SimdMemory
  readonly layers: readonly PlacedLayer[]
  readonly scratch: Scratch
  /** One row per token of the vocabulary. */
  readonly embedding: Float32Array
  readonly outputNorm: Float32Array
  readonly output: Matrix
}

/**
 * Copies a model into a memory of its own.
 *
 * @param tokens - of a pass at the most
 */
export function placeNetwork(model: Model, tokens: number): Network {
  const { shape, embedding, outputNorm } = model
  const { width, hidden, vocab, headSize, context } = shape
  const [queries, keys] = [shape.heads * headSize, shape.kvHeads * headSize]
  const plan = planMemory({ headSize, stride: keys, context })
  const layers = model.layers.map(({ attentionNorm, hiddenNorm }) => ({
    attentionNorm,
    query: plan.matrix(queries, width),
    key: plan.matrix(keys, width),
    value: plan.matrix(keys, width),
    attentionOut: plan.matrix(width, queries),
    hiddenNorm,
    gate: plan.matrix(hidden, width),
    up: plan.matrix(hidden, width),
    down: plan.matrix(width, hidden),
  }))
  const output = plan.matrix(vocab, width)
  const rows = (size: number): Rows => plan.rows(size, tokens)
  const scratch = {
    ...{ x: rows(width), normed: rows(width), added: rows(width) },
    ...{ query: rows(queries), key: rows(keys), value: rows(keys), mixed: rows(queries) },
    ...{ gate: rows(hidden), up: rows(hidden), logits: rows(vocab) },
    keys: plan.history(keys, context),
    values: plan.history(keys, context),
  }
  const memory = plan.make()
  for (const [index, layer] of layers.entries()) {
    const weights = model.layers[index]
    if (weights !== undefined) packLayer(memory, layer, weights)
  }
  memory.pack(output, model.output)
  return { shape, memory, layers, scratch, embedding, outputNorm, output }
}

function packLayer(memory: SimdMemory, layer: PlacedLayer, weights: LayerWeights): void {
  memory.pack(layer.query, weights.query)
  memory.pack(layer.key, weights.key)
  memory.pack(layer.value, weights.value)
  memory.pack(layer.attentionOut, weights.attentionOut)
  memory.pack(layer.gate, weights.gate)
  memory.pack(layer.up, weights.up)
  memory.pack(layer.down, weights.down)
}
