/**
 * The forward pass over whole sequences, which keeps what the backward pass needs. Its logits must equal those of
 * the inference engine, up to rounding.
 */
import type { Projection } from '../../inference/tiny/lora/adapter.ts'
import {
  type Angles,
  activate,
  makeAngles,
  normalize,
} from '../../inference/tiny/model/layer-math.ts'
import { addTo, multiply } from '../../inference/tiny/model/matrix.ts'
import { attendRows } from './attention.ts'
import { rotateRows } from './layer-gradient.ts'
import type { Layout } from './layout.ts'
import type { Network, NetworkLayer } from './network.ts'

/** The intermediate values of a layer, one row per token. */
export interface LayerTrace {
  readonly x: Float64Array
  readonly normed: Float64Array
  /** Rotated by the angles of the positions. */
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

/** A pass with everything its derivative needs. */
export interface Pass {
  readonly layout: Layout
  readonly angles: Angles
  readonly layers: readonly LayerTrace[]
  /** Output of the last layer. */
  readonly last: Float64Array
  /** One row of the vocabulary per wanted row, sequence by sequence. The owner of the pass may overwrite them. */
  readonly logits: Float64Array
}

/** Runs sequences of token ids, none longer than the context, through the network. */
export function runForward(network: Network, layout: Layout): Pass {
  const { shape, outputNorm, output } = network
  const { width, headSize, ropeBase, epsilon } = shape
  const longest = layout.positions.reduce((max, position) => Math.max(max, position), 0)
  const angles = makeAngles(longest + 1, headSize, ropeBase)
  let x: Float64Array = new Float64Array(layout.ids.length * width)
  for (const [row, id] of layout.ids.entries()) {
    x.set(network.embedding.subarray(id * width, (id + 1) * width), row * width)
  }
  const layers = network.layers.map((layer) => {
    const trace = runLayer(network, layer, x, layout, angles)
    x = trace.out
    return trace
  })
  const picked = pickRows(x, layout.wanted.flat(), width)
  const rows = picked.length / width
  normalize(picked, picked, outputNorm, rows, epsilon)
  const logits = new Float64Array(rows * shape.vocab)
  multiply(logits, picked, output, shape.vocab, width, rows)
  return { layout, angles, layers, last: x, logits }
}

/** Copies rows in the given order; a row may be repeated. */
export function pickRows(x: Float64Array, rows: readonly number[], width: number): Float64Array {
  const picked = new Float64Array(rows.length * width)
  for (const [place, row] of rows.entries()) {
    picked.set(x.subarray(row * width, (row + 1) * width), place * width)
  }
  return picked
}

function runLayer(
  { shape }: Network,
  { attentionNorm, hiddenNorm, weights }: NetworkLayer,
  x: Float64Array,
  layout: Layout,
  angles: Angles,
): LayerTrace & { readonly out: Float64Array } {
  const { ids, positions } = layout
  const tokens = ids.length
  const project = (projection: Projection, input: Float64Array): Float64Array => {
    const { merged, outputs, inputs } = weights[projection]
    const result = new Float64Array(tokens * outputs)
    multiply(result, input, merged, outputs, inputs, tokens)
    return result
  }
  const normed = new Float64Array(x.length)
  normalize(normed, x, attentionNorm, tokens, shape.epsilon)
  const query = project('query', normed)
  const key = project('key', normed)
  const value = project('value', normed)
  rotateRows(query, weights.query.outputs, shape.headSize, positions, angles, 1)
  rotateRows(key, weights.key.outputs, shape.headSize, positions, angles, 1)
  const mixed = new Float64Array(query.length)
  attendRows(mixed, { query, key, value }, shape, layout)
  const middle = project('attentionOut', mixed)
  addTo(middle, x)
  const middleNormed = new Float64Array(x.length)
  normalize(middleNormed, middle, hiddenNorm, tokens, shape.epsilon)
  const gate = project('gate', middleNormed)
  const up = project('up', middleNormed)
  const hidden = new Float64Array(gate.length)
  activate(hidden, gate, up, hidden.length)
  const out = project('down', hidden)
  addTo(out, middle)
  return { x, normed, query, key, value, mixed, middle, middleNormed, gate, up, hidden, out }
}
