/** Causal attention with grouped queries over one whole sequence, and its derivative. */
import type { ModelShape } from '../inference/tiny/model.ts'
import { addScaled, dot } from './matrix.ts'

/** Queries, keys and values of a sequence, one row per token, already turned. */
export interface Heads {
  readonly query: Float64Array
  readonly key: Float64Array
  readonly value: Float64Array
}

/** Writes the mixed values of all tokens and heads. */
export function attend(out: Float64Array, heads: Heads, shape: ModelShape, tokens: number): void {
  const { size, queries, keys, group } = sizesOf(shape)
  const weights = new Float64Array(tokens)
  out.fill(0)
  for (let head = 0; head < shape.heads; head++) {
    const shared = Math.floor(head / group) * size
    for (let token = 0; token < tokens; token++) {
      const at = token * queries + head * size
      weigh(weights, heads, at, shared, keys, size, token + 1)
      for (let p = 0; p <= token; p++) {
        addScaled(out, at, heads.value, p * keys + shared, size, weights[p] as number)
      }
    }
  }
}

/**
 * The derivatives of queries, keys and values. The weights are computed anew: kept, they would need
 * memory by the square of the length.
 *
 * @param dOut - derivative of the mixed values
 */
export function attendGradient(
  dOut: Float64Array,
  heads: Heads,
  shape: ModelShape,
  tokens: number,
): Heads {
  const { size, queries, keys, group } = sizesOf(shape)
  const query = new Float64Array(tokens * queries)
  const key = new Float64Array(tokens * keys)
  const value = new Float64Array(tokens * keys)
  const weights = new Float64Array(tokens)
  const fits = new Float64Array(tokens)
  const scale = 1 / Math.sqrt(size)
  for (let head = 0; head < shape.heads; head++) {
    const shared = Math.floor(head / group) * size
    for (let token = 0; token < tokens; token++) {
      const at = token * queries + head * size
      weigh(weights, heads, at, shared, keys, size, token + 1)
      let mean = 0
      for (let p = 0; p <= token; p++) {
        const row = p * keys + shared
        const weight = weights[p] as number
        const fit = dot(dOut, at, heads.value, row, size)
        fits[p] = fit
        mean += weight * fit
        addScaled(value, row, dOut, at, size, weight)
      }
      for (let p = 0; p <= token; p++) {
        const row = p * keys + shared
        const slope = scale * (weights[p] as number) * ((fits[p] as number) - mean)
        addScaled(query, at, heads.key, row, size, slope)
        addScaled(key, row, heads.query, at, size, slope)
      }
    }
  }
  return { query, key, value }
}

/** How much of each position a token's head takes: adds up to 1. */
function weigh(
  weights: Float64Array,
  { query, key }: Heads,
  at: number,
  shared: number,
  stride: number,
  size: number,
  positions: number,
): void {
  const scale = 1 / Math.sqrt(size)
  let max = Number.NEGATIVE_INFINITY
  for (let p = 0; p < positions; p++) {
    const score = dot(query, at, key, p * stride + shared, size) * scale
    weights[p] = score
    if (score > max) max = score
  }
  let sum = 0
  for (let p = 0; p < positions; p++) {
    const weight = Math.exp((weights[p] as number) - max)
    weights[p] = weight
    sum += weight
  }
  for (let p = 0; p < positions; p++) weights[p] = (weights[p] as number) / sum
}

function sizesOf({ headSize: size, heads, kvHeads }: ModelShape) {
  return { size, queries: heads * size, keys: kvHeads * size, group: heads / kvHeads }
}
