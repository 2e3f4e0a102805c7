/** Causal attention with grouped queries over all rows of a pass, and its derivative. */
import type { ModelShape } from '../../inference/tiny/model/model.ts'
import type { Layout } from './layout.ts'
import { addScaled, dot } from './matrix.ts'

/** Queries, keys and values, one row per token, already turned. */
export interface Heads {
  readonly query: Float64Array
  readonly key: Float64Array
  readonly value: Float64Array
}

type Rows = Pick<Layout, 'shared' | 'starts'>

/** Writes the mixed values of all tokens and heads. */
export function attend(out: Float64Array, heads: Heads, shape: ModelShape, layout: Rows): void {
  const { size, queries, keys, group } = sizesOf(shape)
  const tokens = layout.starts.length
  const weights = new Float64Array(tokens)
  out.fill(0)
  for (let token = 0; token < tokens; token++) {
    const seen = seenRows(layout, token)
    for (let head = 0; head < shape.heads; head++) {
      const shared = Math.floor(head / group) * size
      const at = token * queries + head * size
      weigh(weights, heads, at, shared, keys, size, seen)
      for (let i = 0; i < seen.count; i++) {
        const from = rowAt(seen, i) * keys + shared
        addScaled(out, at, heads.value, from, size, weights[i] as number)
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
  layout: Rows,
): Heads {
  const { size, queries, keys, group } = sizesOf(shape)
  const tokens = layout.starts.length
  const query = new Float64Array(tokens * queries)
  const key = new Float64Array(tokens * keys)
  const value = new Float64Array(tokens * keys)
  const weights = new Float64Array(tokens)
  const fits = new Float64Array(tokens)
  const scale = 1 / Math.sqrt(size)
  for (let token = 0; token < tokens; token++) {
    const seen = seenRows(layout, token)
    for (let head = 0; head < shape.heads; head++) {
      const shared = Math.floor(head / group) * size
      const at = token * queries + head * size
      weigh(weights, heads, at, shared, keys, size, seen)
      let mean = 0
      for (let i = 0; i < seen.count; i++) {
        const from = rowAt(seen, i) * keys + shared
        const weight = weights[i] as number
        const fit = dot(dOut, at, heads.value, from, size)
        fits[i] = fit
        mean += weight * fit
        addScaled(value, from, dOut, at, size, weight)
      }
      for (let i = 0; i < seen.count; i++) {
        const from = rowAt(seen, i) * keys + shared
        const slope = scale * (weights[i] as number) * ((fits[i] as number) - mean)
        addScaled(query, at, heads.key, from, size, slope)
        addScaled(key, from, heads.query, at, size, slope)
      }
    }
  }
  return { query, key, value }
}

/** The rows that a token sees: the first `before` ones, then those from `start`. */
interface Seen {
  readonly before: number
  readonly start: number
  readonly count: number
}

function seenRows({ shared, starts }: Rows, token: number): Seen {
  const start = starts[token] ?? 0
  const before = Math.min(shared, start)
  return { before, start, count: before + token - start + 1 }
}

function rowAt({ before, start }: Seen, i: number): number {
  return i < before ? i : start + i - before
}

/** How much of each row that it sees a token's head takes: adds up to 1. */
function weigh(
  weights: Float64Array,
  { query, key }: Heads,
  at: number,
  shared: number,
  stride: number,
  size: number,
  seen: Seen,
): void {
  const scale = 1 / Math.sqrt(size)
  let max = Number.NEGATIVE_INFINITY
  for (let i = 0; i < seen.count; i++) {
    const score = dot(query, at, key, rowAt(seen, i) * stride + shared, size) * scale
    weights[i] = score
    if (score > max) max = score
  }
  let sum = 0
  for (let i = 0; i < seen.count; i++) {
    const weight = Math.exp((weights[i] as number) - max)
    weights[i] = weight
    sum += weight
  }
  for (let i = 0; i < seen.count; i++) weights[i] = (weights[i] as number) / sum
}

function sizesOf({ headSize: size, heads, kvHeads }: ModelShape) {
  return { size, queries: heads * size, keys: kvHeads * size, group: heads / kvHeads }
}
