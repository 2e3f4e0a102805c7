/**
 * The attention keys and values of one sequence of tokens. It grows with the sequence, never beyond the context.
 */
import type { ModelShape } from './model.ts'

/** Positions that are added at a time. */
const GROWTH_POSITIONS = 256

/** What one layer keeps of the positions so far. */
interface KvLayer {
  /** One row of kvHeads x headSize numbers per position. */
  readonly keys: Float32Array
  readonly values: Float32Array
}

/** The memory of one sequence. `length` may be set back to forget the last tokens. */
export interface KvCache {
  /** Tokens held so far. */
  length: number
  /**
   * Makes room for more tokens. Arrays of `layer` may be other ones afterwards.
   *
   * @throws RangeError when they do not fit into the context
   */
  reserve(tokens: number): void
  layer(index: number): KvLayer
  /** Returns a copy, to continue the same tokens differently. */
  fork(): KvCache
}

/** The sizes that a cache depends on. */
type CacheShape = Pick<ModelShape, 'layers' | 'kvHeads' | 'headSize' | 'context'>

/** An empty cache. */
export function createKvCache(shape: CacheShape): KvCache {
  return makeCache(
    shape,
    Array.from({ length: shape.layers }, () => ({
      keys: new Float32Array(),
      values: new Float32Array(),
    })),
    0,
  )
}

function makeCache(shape: CacheShape, start: readonly KvLayer[], length: number): KvCache {
  const stride = shape.kvHeads * shape.headSize
  let layers = start
  const resized = (positions: number): KvLayer[] =>
    layers.map(({ keys, values }) => ({
      keys: copyInto(positions * stride, keys, cache.length * stride),
      values: copyInto(positions * stride, values, cache.length * stride),
    }))
  const cache: KvCache = {
    length,
    reserve(tokens) {
      const wanted = cache.length + tokens
      if (wanted > shape.context) throw new RangeError('the context is full')
      if (wanted * stride <= (layers[0]?.keys.length ?? 0)) return
      const positions = Math.ceil(wanted / GROWTH_POSITIONS) * GROWTH_POSITIONS
      layers = resized(Math.min(positions, shape.context))
    },
    layer(index) {
      const layer = layers[index]
      if (layer === undefined) throw new RangeError('no such layer')
      return layer
    },
    fork: () => makeCache(shape, resized(cache.length), cache.length),
  }
  return cache
}

function copyInto(size: number, from: Float32Array, count: number): Float32Array {
  const into = new Float32Array(size)
  into.set(from.subarray(0, count))
  return into
}
