/** Causal attention over all rows of a pass, and its derivative. */
import { attend, rowAt, type Seen, sizesOf, weigh } from '../../inference/tiny/model/attention.ts'
import { addScaled, dot } from '../../inference/tiny/model/matrix.ts'
import type { ModelShape } from '../../inference/tiny/model/model.ts'
import type { Layout } from './layout.ts'

/** Queries, keys and values, one row per token, already rotated. */
interface Heads {
  readonly query: Float64Array
  readonly key: Float64Array
  readonly value: Float64Array
}

type Rows = Pick<Layout, 'shared' | 'starts'>

/** Writes the mixed values of all tokens and heads. */
export function attendRows(out: Float64Array, heads: Heads, shape: ModelShape, layout: Rows): void {
  const sizes = sizesOf(shape)
  const history = { keys: heads.key, values: heads.value }
  const weights = new Float64Array(layout.starts.length)
  for (let token = 0; token < layout.starts.length; token++) {
    const seen = seenRows(layout, token)
    attend(out, heads.query, token * sizes.queries, history, sizes, seen, weights)
  }
}

/**
 * Computes the derivatives of queries, keys and values. The attention weights are recomputed: storing
 * them would take memory quadratic in the length.
 *
 * @param dOut - derivative of the mixed values
 */
export function attendGradient(
  dOut: Float64Array,
  heads: Heads,
  shape: ModelShape,
  layout: Rows,
): Heads {
  const sizes = sizesOf(shape)
  const { size, queries, keys, group } = sizes
  const history = { keys: heads.key, values: heads.value }
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
      weigh(weights, heads.query, at, history, shared, sizes, seen)
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

function seenRows({ shared, starts }: Rows, token: number): Seen {
  const start = starts[token] ?? 0
  const before = Math.min(shared, start)
  return { before, start, count: before + token - start + 1 }
}
