/**
 * Computes the derivative of a loss by the adapter's weights from its derivative by the logits. Written by
 * hand for this network; tests compare it with finite differences. The base model gets no derivatives.
 */
import type { LowRank, Projection } from '../../inference/tiny/lora/adapter.ts'
import { addScaled, addTo, multiply } from '../../inference/tiny/model/matrix.ts'
import { attendGradient } from './attention.ts'
import { type LayerTrace, type Pass, pickRows } from './forward.ts'
import { activateGradient, addNormGradient, rotateRows } from './layer-gradient.ts'
import {
  type FullLayer,
  mapProjections,
  type Network,
  type NetworkLayer,
  transpose,
} from './network.ts'

/** One number for each weight of the adapter. */
export type Gradient = readonly FullLayer[]

/** Returns a gradient of zeros. */
export function createGradient(network: Network): Gradient {
  return network.adapter.layers.map((layer) =>
    mapProjections((projection) => ({
      a: new Float64Array(layer[projection].a.length),
      b: new Float64Array(layer[projection].b.length),
    })),
  )
}

/**
 * Adds the contribution of one pass to the gradient.
 *
 * @param dLogits - derivative by `pass.logits`, in its order
 */
export function runBackward(
  network: Network,
  pass: Pass,
  dLogits: Float64Array,
  gradient: Gradient,
): void {
  const { shape } = network
  let dx = outputGradient(network, pass, dLogits)
  for (let index = shape.layers - 1; index >= 0; index--) {
    const [layer, trace] = [network.layers[index], pass.layers[index]]
    const [pairs, into] = [network.adapter.layers[index], gradient[index]]
    if (!layer || !trace || !pairs || !into) throw new RangeError('no such layer')
    dx = layerGradient(network, { layer, trace, pairs, into, pass, dx, isFirst: index === 0 })
  }
}

/** Propagates from the logits back to the output of the last layer. */
function outputGradient(network: Network, pass: Pass, dLogits: Float64Array): Float64Array {
  const { shape, outputNorm, outputTransposed } = network
  const { width } = shape
  const wanted = pass.layout.wanted.flat()
  const dNormed = new Float64Array(wanted.length * width)
  multiply(dNormed, dLogits, outputTransposed, width, shape.vocab, wanted.length)
  const dPicked = new Float64Array(dNormed.length)
  const picked = pickRows(pass.last, wanted, width)
  addNormGradient(dPicked, dNormed, picked, outputNorm, shape.epsilon)
  const dx = new Float64Array(pass.last.length)
  for (const [place, row] of wanted.entries()) {
    addScaled(dx, row * width, dPicked, place * width, width, 1)
  }
  return dx
}

interface LayerStep {
  readonly layer: NetworkLayer
  readonly trace: LayerTrace
  readonly pairs: FullLayer
  readonly into: FullLayer
  readonly pass: Pass
  /** Derivative by the layer's output. */
  readonly dx: Float64Array
  /** Whether this is the first layer, since nothing below it is trained. */
  readonly isFirst: boolean
}

/** Returns the derivative by the layer's input; adds those of its adapter to the gradient. */
function layerGradient(
  network: Network,
  { layer, trace, pairs, into, pass, dx, isFirst }: LayerStep,
): Float64Array {
  const { shape, adapter } = network
  const { layout, angles } = pass
  const tokens = layout.ids.length
  const scale = adapter.alpha / adapter.rank
  const back = (projection: Projection, input: Float64Array, dy: Float64Array): Float64Array => {
    addPairGradient(into[projection], pairs[projection], input, dy, adapter.rank, tokens, scale)
    const { transposed, inputs, outputs } = layer.weights[projection]
    const dInput = new Float64Array(tokens * inputs)
    multiply(dInput, dy, transposed, inputs, outputs, tokens)
    return dInput
  }
  const dHidden = back('down', trace.hidden, dx)
  const dGate = new Float64Array(dHidden.length)
  const dUp = new Float64Array(dHidden.length)
  activateGradient(dGate, dUp, dHidden, trace.gate, trace.up)
  const dMiddleNormed = back('gate', trace.middleNormed, dGate)
  addTo(dMiddleNormed, back('up', trace.middleNormed, dUp))
  const dMiddle = dx.slice()
  addNormGradient(dMiddle, dMiddleNormed, trace.middle, layer.hiddenNorm, shape.epsilon)
  const dMixed = back('attentionOut', trace.mixed, dMiddle)
  const heads = attendGradient(dMixed, trace, shape, layout)
  rotateRows(heads.query, layer.weights.query.outputs, shape.headSize, layout.positions, angles, -1)
  rotateRows(heads.key, layer.weights.key.outputs, shape.headSize, layout.positions, angles, -1)
  const dNormed = back('query', trace.normed, heads.query)
  addTo(dNormed, back('key', trace.normed, heads.key))
  addTo(dNormed, back('value', trace.normed, heads.value))
  if (!isFirst) addNormGradient(dMiddle, dNormed, trace.x, layer.attentionNorm, shape.epsilon)
  return dMiddle
}

/** Adds the derivatives of a and b in y += scale * b * (a * x). */
function addPairGradient(
  into: LowRank,
  { a, b }: LowRank,
  x: Float64Array,
  dy: Float64Array,
  rank: number,
  tokens: number,
  scale: number,
): void {
  const inputs = a.length / rank
  const outputs = b.length / rank
  const narrow = new Float64Array(tokens * rank)
  multiply(narrow, x, a, rank, inputs, tokens)
  addOuter(into.b, dy, narrow, outputs, rank, tokens, scale)
  const bTransposed = new Float64Array(b.length)
  transpose(bTransposed, b, outputs)
  multiply(narrow, dy, bTransposed, rank, outputs, tokens)
  addOuter(into.a, narrow, x, rank, inputs, tokens, scale)
}

/** out[row][column] += scale * the sum over tokens of left[token][row] * right[token][column]. */
function addOuter(
  out: Float64Array,
  left: Float64Array,
  right: Float64Array,
  rows: number,
  columns: number,
  tokens: number,
  scale: number,
): void {
  for (let token = 0; token < tokens; token++) {
    for (let row = 0; row < rows; row++) {
      const factor = scale * (left[token * rows + row] as number)
      addScaled(out, row * columns, right, token * columns, columns, factor)
    }
  }
}
