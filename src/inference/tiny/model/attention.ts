/** Attention of one head of one token, shared by inference and training. */

import { dot, type Floats } from './matrix.ts'
import type { ModelShape } from './model.ts'

/** Keys and values, one row per token, the keys already turned. */
interface History {
  readonly keys: Floats
  readonly values: Floats
}

/** The rows that a token sees: the first `before` ones, then those from `start`. */
export interface Seen {
  readonly before: number
  readonly start: number
  readonly count: number
}

/** Numbers of a token's queries and of its keys, and how many heads share a key. */
interface HeadSizes {
  readonly size: number
  readonly queries: number
  readonly keys: number
  readonly group: number
}

export function sizesOf({ headSize: size, heads, kvHeads }: ModelShape): HeadSizes {
  return { size, queries: heads * size, keys: kvHeads * size, group: heads / kvHeads }
}

/** The row of the i-th token that is seen. */
export function rowAt({ before, start }: Seen, i: number): number {
  return i < before ? i : start + i - before
}

/**
 * How much of each row that it sees a token's head takes: adds up to 1.
 *
 * @param weights - gets them; at least as many as rows are seen
 * @param at - where the head's query begins
 * @param shared - where the head's key begins in its row
 */
export function weigh(
  weights: Floats,
  query: Floats,
  at: number,
  { keys }: History,
  shared: number,
  sizes: HeadSizes,
  seen: Seen,
): void {
  const { size, keys: stride } = sizes
  const scale = 1 / Math.sqrt(size)
  let max = Number.NEGATIVE_INFINITY
  for (let i = 0; i < seen.count; i++) {
    const score = dot(query, at, keys, rowAt(seen, i) * stride + shared, size) * scale
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

/**
 * Writes what all heads of one token mix of the values that they see.
 *
 * @param at - where the token's queries begin, and its place in `out`
 * @param weights - working memory for a number per row that is seen
 */
export function attend(
  out: Floats,
  query: Floats,
  at: number,
  history: History,
  sizes: HeadSizes,
  seen: Seen,
  weights: Floats,
): void {
  const { size, queries, group } = sizes
  for (let head = 0; head * size < queries; head++) {
    const shared = Math.floor(head / group) * size
    const own = at + head * size
    weigh(weights, query, own, history, shared, sizes, seen)
    for (let i = 0; i < size; i += 4) {
      mixFour(out, own + i, weights, history.values, shared + i, sizes.keys, seen)
    }
  }
}

/** Four sums at once, so that no addition waits for the one before. */
function mixFour(
  out: Floats,
  at: number,
  weights: Floats,
  values: Floats,
  shared: number,
  stride: number,
  seen: Seen,
): void {
  let s0 = 0
  let s1 = 0
  let s2 = 0
  let s3 = 0
  for (let i = 0; i < seen.count; i++) {
    const from = rowAt(seen, i) * stride + shared
    const weight = weights[i] as number
    s0 += weight * (values[from] as number)
    s1 += weight * (values[from + 1] as number)
    s2 += weight * (values[from + 2] as number)
    s3 += weight * (values[from + 3] as number)
  }
  out[at] = s0
  out[at + 1] = s1
  out[at + 2] = s2
  out[at + 3] = s3
}
