/**
 * The pass over a whole sequence that keeps what the way back needs.
 * It must give the logits of the inference engine, but for rounding.
 */
import type { Projection } from '../inference/tiny/lora/adapter.ts'
import { attend } from './attention.ts'
import { type Angles, activate, makeAngles, normalize, rotate } from './layer-math.ts'
import { addTo, multiply } from './matrix.ts'
import type { Network, NetworkLayer } from './network.ts'

/** What a layer saw, one row per token. */
export interface LayerTrace {
  readonly x: Float64Array
  readonly normed: Float64Array
  /** Turned by the positions' angles. */
  readonly query: Float64Array
  readonly key: Float64Array
  readonly value: Float64Array
  readonly mixed: Float64Array
  /** Before the second norm. */
  readonly middle: Float64Array
  readonly middleNormed: Float64Array
  readonly gate: Float64Array
  readonly up: Float64Array
  readonly hidden: Float64Array
}

/** A pass with all that its derivative needs. */
export interface Pass {
  readonly tokens: number
  readonly angles: Angles
  readonly layers: readonly LayerTrace[]
  /** What the last layer gave. */
  readonly last: Float64Array
  /** Positions whose logits were computed, ascending. */
  readonly wanted: readonly number[]
  /** One row of the vocabulary per wanted position. */
  readonly logits: Float64Array
}

/**
 * Runs a sequence through the network.
 *
 * @param ids - 1 to `context` ids of the vocabulary
 * @param wanted - positions after which logits are wanted, ascending
 */
export function runForward(
  network: Network,
  ids: readonly number[],
  wanted: readonly number[],
): Pass {
  const { shape, outputNorm, output } = network
  const { width, headSize, ropeBase, epsilon } = shape
  const tokens = ids.length
  const angles = makeAngles(tokens, headSize, ropeBase)
  let x: Float64Array = new Float64Array(tokens * width)
  for (const [position, id] of ids.entries()) {
    x.set(network.embedding.subarray(id * width, (id + 1) * width), position * width)
  }
  const layers = network.layers.map((layer) => {
    const trace = runLayer(network, layer, x, tokens, angles)
    x = trace.out
    return trace
  })
  const picked = new Float64Array(wanted.length * width)
  for (const [row, position] of wanted.entries()) {
    picked.set(x.subarray(position * width, (position + 1) * width), row * width)
  }
  normalize(picked, picked, outputNorm, epsilon)
  const logits = new Float64Array(wanted.length * shape.vocab)
  multiply(logits, picked, output, shape.vocab, width, wanted.length)
  return { tokens, angles, layers, last: x, wanted, logits }
}

function runLayer(
  { shape }: Network,
  { attentionNorm, hiddenNorm, weights }: NetworkLayer,
  x: Float64Array,
  tokens: number,
  angles: Angles,
): LayerTrace & { readonly out: Float64Array } {
  const project = (projection: Projection, input: Float64Array): Float64Array => {
    const { merged, outputs, inputs } = weights[projection]
    const result = new Float64Array(tokens * outputs)
    multiply(result, input, merged, outputs, inputs, tokens)
    return result
  }
  const normed = new Float64Array(x.length)
  normalize(normed, x, attentionNorm, shape.epsilon)
  const query = project('query', normed)
  const key = project('key', normed)
  const value = project('value', normed)
  rotate(query, weights.query.outputs, shape.headSize, angles, 1)
  rotate(key, weights.key.outputs, shape.headSize, angles, 1)
  const mixed = new Float64Array(query.length)
  attend(mixed, { query, key, value }, shape, tokens)
  const middle = project('attentionOut', mixed)
  addTo(middle, x)
  const middleNormed = new Float64Array(x.length)
  normalize(middleNormed, middle, hiddenNorm, shape.epsilon)
  const gate = project('gate', middleNormed)
  const up = project('up', middleNormed)
  const hidden = new Float64Array(gate.length)
  activate(hidden, gate, up)
  const out = project('down', hidden)
  addTo(out, middle)
  return { x, normed, query, key, value, mixed, middle, middleNormed, gate, up, hidden, out }
}
