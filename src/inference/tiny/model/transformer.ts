/**
 * The forward pass of a llama: RMSNorm, RoPE on neighbouring pairs, grouped
 * queries with a KV cache, SwiGLU. It must not know tokens' texts, requests or sampling.
 */
import { type Angles, addTo, makeAngles, normalize, rotate } from './kernels.ts'
import type { KvCache } from './kv-cache.ts'
import type { Model } from './model.ts'
import { type Network, type PlacedLayer, placeNetwork } from './network.ts'
import type { Rows } from './simd-memory.ts'

/** Tokens of one pass at most; longer prompts come in several passes. */
export const PASS_TOKENS_MAX = 32

/** Tokens of one sequence that are run in a pass. */
export interface Part {
  /** At least one, within the vocabulary; they follow what the cache holds. */
  readonly ids: readonly number[]
  /** The tokens are appended to it. No two parts of a pass may share one. */
  readonly cache: KvCache
  /** After which tokens logits are wanted. */
  readonly wants: 'last' | 'all'
}

/** For each part the logits that it wants: views that the next pass overwrites. */
export type PassLogits = readonly (readonly Float32Array[])[]

/** The network of one model. */
export interface Transformer {
  /**
   * Runs one pass. A sequence gets the same logits whatever else is in the pass.
   *
   * @param parts - 1..PASS_TOKENS_MAX tokens together
   * @throws RangeError when a context is full or the pass is too long
   */
  run(parts: readonly Part[]): PassLogits
}

/** A part with the places of its tokens among those of the pass. */
interface Run extends Part {
  /** The first of its tokens. */
  readonly row: number
}

/**
 * A transformer over a model, whose weights it copies. Passes must not overlap, for they share their
 * working memory.
 */
export function createTransformer(model: Model): Transformer {
  const network = placeNetwork(model, PASS_TOKENS_MAX)
  const { shape, memory, scratch, layers, embedding } = network
  const angles = makeAngles(shape.context, shape.headSize, shape.ropeBase)
  return {
    run(parts) {
      const { runs, count } = toRuns(parts)
      const { x, normed, added, gate, up } = scratch
      for (const { ids, row } of runs) {
        for (const [place, id] of ids.entries()) {
          const values = embedding.subarray(id * shape.width, (id + 1) * shape.width)
          memory.floats.set(values, at(x, row + place))
        }
      }
      for (const [index, layer] of layers.entries()) {
        attend(network, layer, angles, runs, count, index)
        normalize(memory.floats, normed, x, layer.hiddenNorm, count, shape.epsilon)
        memory.multiply(gate, normed, layer.gate, count)
        memory.multiply(up, normed, layer.up, count)
        memory.activate(gate, up, count)
        memory.multiply(added, gate, layer.down, count)
        addTo(memory.floats, x, added, count)
      }
      for (const { cache, ids } of parts) cache.length += ids.length
      return readLogits(network, runs)
    },
  }
}

/** The parts one behind the other, with room made for them in their caches. */
function toRuns(parts: readonly Part[]): { runs: readonly Run[]; count: number } {
  let count = 0
  const runs = parts.map((part) => {
    const row = count
    count += part.ids.length
    return { ...part, row }
  })
  const isFilled = parts.every(({ ids }) => ids.length > 0)
  if (count < 1 || count > PASS_TOKENS_MAX || !isFilled) throw new RangeError('bad pass length')
  for (const { cache, ids } of parts) cache.reserve(ids.length)
  return { runs, count }
}

/** The logits of the wanted tokens, sorted into the parts. */
function readLogits(
  { shape, memory, scratch, outputNorm, output }: Network,
  runs: readonly Run[],
): PassLogits {
  const { x, normed, logits } = scratch
  const { floats } = memory
  let count = 0
  for (const { ids, row, wants } of runs) {
    // Vectors only move towards the start, so none is overwritten before it is read.
    for (let place = wants === 'all' ? 0 : ids.length - 1; place < ids.length; place++) {
      const from = at(x, row + place)
      floats.copyWithin(at(x, count++), from, from + x.stride)
    }
  }
  normalize(floats, normed, x, outputNorm, count, shape.epsilon)
  memory.multiply(logits, normed, output, count)
  let place = 0
  return runs.map(({ ids, wants }) =>
    Array.from({ length: wants === 'all' ? ids.length : 1 }, () => {
      const from = at(logits, place++)
      return floats.subarray(from, from + shape.vocab)
    }),
  )
}

/** Adds one layer's attention to `scratch.x`, and the new keys and values to the caches. */
function attend(
  network: Network,
  layer: PlacedLayer,
  angles: Angles,
  runs: readonly Run[],
  count: number,
  index: number,
): void {
  const { shape, memory, scratch } = network
  const { x, normed, query, key, value, mixed, added } = scratch
  const { floats } = memory
  normalize(floats, normed, x, layer.attentionNorm, count, shape.epsilon)
  memory.multiply(query, normed, layer.query, count)
  memory.multiply(key, normed, layer.key, count)
  memory.multiply(value, normed, layer.value, count)
  for (const run of runs) attendRun(network, angles, run, index)
  memory.multiply(added, mixed, layer.attentionOut, count)
  addTo(floats, x, added, count)
}

/** The attention of one sequence's tokens, from `scratch.query` to `scratch.mixed`. */
function attendRun(
  { shape, memory, scratch }: Network,
  angles: Angles,
  { row, ids, cache }: Run,
  index: number,
): void {
  const { query, key, value, mixed, keys, values } = scratch
  const { floats } = memory
  const { heads, headSize } = shape
  const stored = cache.layer(index)
  for (let place = 0; place < ids.length; place++) {
    const position = cache.length + place
    const [ownQuery, ownKey] = [at(query, row + place), at(key, row + place)]
    const ownValue = at(value, row + place)
    rotate(floats, ownQuery, heads * headSize, position, headSize, angles)
    rotate(floats, ownKey, keys.stride, position, headSize, angles)
    stored.keys.set(floats.subarray(ownKey, ownKey + keys.stride), position * keys.stride)
    stored.values.set(floats.subarray(ownValue, ownValue + keys.stride), position * keys.stride)
  }
  const held = (cache.length + ids.length) * keys.stride
  floats.set(stored.keys.subarray(0, held), keys.at)
  floats.set(stored.values.subarray(0, held), values.at)
  const group = heads / shape.kvHeads
  for (let place = 0; place < ids.length; place++) {
    for (let head = 0; head < heads; head++) {
      const shared = Math.floor(head / group) * headSize
      memory.attend({
        out: at(mixed, row + place) + head * headSize,
        query: at(query, row + place) + head * headSize,
        keys: keys.at + shared,
        values: values.at + shared,
        positions: cache.length + place + 1,
      })
    }
  }
}

/** Where the vector of a token begins. */
function at(rows: Rows, token: number): number {
  return rows.at + token * rows.stride
}
