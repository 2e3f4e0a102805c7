/** The forward pass against a textbook version of it, and the cache against no cache. */
import { describe, expect, it } from 'vitest'
import { createKvCache, type KvCache } from '../../../src/inference/tiny/model/kv-cache.ts'
import { loadModel } from '../../../src/inference/tiny/model/model.ts'
import { createTransformer } from '../../../src/inference/tiny/model/transformer.ts'
import { modelFile } from '../gguf-fixture.ts'

const model = loadModel(modelFile())
const { shape } = model
const transformer = createTransformer(model)
const IDS = Array.from({ length: 40 }, (_, i) => (i * 37 + 5) % shape.vocab)

/** The logits after the last of the ids, in one pass. */
function forward(ids: readonly number[], cache: KvCache): Float32Array {
  return transformer.run([{ ids, cache, wants: 'last' }])[0]![0]!
}

/** Runs the ids in passes of the given length; the logits after the last one. */
function run(ids: readonly number[], pass: number, cache = createKvCache(shape)): number[] {
  let logits: number[] = []
  for (let at = 0; at < ids.length; at += pass) {
    logits = [...forward(ids.slice(at, at + pass), cache)]
  }
  return logits
}

type Vector = readonly number[]
const matrix = (weights: Float32Array, x: Vector): Vector =>
  Array.from({ length: weights.length / x.length }, (_, row) =>
    x.reduce((sum, value, i) => sum + value * weights[row * x.length + i]!, 0),
  )
const plus = (a: Vector, b: Vector): Vector => a.map((value, i) => value + b[i]!)
const normed = (x: Vector, weights: Float32Array): Vector => {
  const mean = x.reduce((sum, value) => sum + value * value, 0) / x.length
  return x.map((value, i) => (value / Math.sqrt(mean + shape.epsilon)) * weights[i]!)
}
const turned = (x: Vector, position: number): Vector =>
  x.map((value, i) => {
    const within = i % shape.headSize
    const angle = position * shape.ropeBase ** (-(within - (within % 2)) / shape.headSize)
    return within % 2 === 0
      ? value * Math.cos(angle) - x[i + 1]! * Math.sin(angle)
      : x[i - 1]! * Math.sin(angle) + value * Math.cos(angle)
  })

/** The same network from the textbook: all positions at once, no cache, 64-bit numbers. */
function textbook(ids: readonly number[]): Vector {
  let rows: Vector[] = ids.map((id) => [
    ...model.embedding.subarray(id * shape.width, (id + 1) * shape.width),
  ])
  for (const layer of model.layers) {
    const inputs = rows.map((x) => normed(x, layer.attentionNorm))
    const queries = inputs.map((x, p) => turned(matrix(layer.query, x), p))
    const keys = inputs.map((x, p) => turned(matrix(layer.key, x), p))
    const values = inputs.map((x) => matrix(layer.value, x))
    rows = rows.map((x, p) => {
      const mixed: number[] = []
      for (let head = 0; head < shape.heads; head++) {
        const shared = Math.floor((head * shape.kvHeads) / shape.heads) * shape.headSize
        const part = (v: Vector, from: number): Vector => v.slice(from, from + shape.headSize)
        const weights = keys.slice(0, p + 1).map((key) => {
          const query = part(queries[p]!, head * shape.headSize)
          const score = part(key, shared).reduce((sum, k, i) => sum + k * query[i]!, 0)
          return Math.exp(score / Math.sqrt(shape.headSize))
        })
        const total = weights.reduce((sum, weight) => sum + weight, 0)
        for (let i = 0; i < shape.headSize; i++) {
          mixed.push(
            weights.reduce((s, weight, q) => s + weight * values[q]![shared + i]!, 0) / total,
          )
        }
      }
      return plus(x, matrix(layer.attentionOut, mixed))
    })
    rows = rows.map((x) => {
      const input = normed(x, layer.hiddenNorm)
      const up = matrix(layer.up, input)
      const hidden = matrix(layer.gate, input).map((g, i) => (g / (1 + Math.exp(-g))) * up[i]!)
      return plus(x, matrix(layer.down, hidden))
    })
  }
  return matrix(model.output, normed(rows.at(-1)!, model.outputNorm))
}

function fork(cache: KvCache, ids: readonly number[]): number[] {
  return run(ids, 1, cache.fork())
}

describe('the transformer', () => {
  it('computes what the textbook says', () => {
    const logits = run(IDS, 1)
    const expected = textbook(IDS)
    const worst = Math.max(...logits.map((logit, i) => Math.abs(logit - expected[i]!)))
    expect(worst).toBeLessThan(1e-4)
    expect(Math.max(...expected.map(Math.abs))).toBeGreaterThan(0.5)
  })

  it('gives the same logits with a cache as without one', () => {
    const cache = createKvCache(shape)
    for (let end = 1; end <= 20; end++) {
      const cached = [...forward([IDS[end - 1]!], cache)]
      expect(cached).toEqual(run(IDS.slice(0, end), 32))
    }
  })

  it.each([2, 7, 32])('reads a prompt in passes of %i as token by token', (pass) => {
    expect(run(IDS, pass)).toEqual(run(IDS, 1))
  })

  it('does not mix sequences that take turns, nor a fork with its origin', () => {
    const [a, b] = [createKvCache(shape), createKvCache(shape)]
    run(IDS.slice(0, 9), 4, a)
    run(IDS.slice(20, 30), 4, b)
    const alone = run([...IDS.slice(0, 9), 7, 8], 1)
    expect(fork(a, [3, 4, 5])).not.toEqual(alone)
    expect(fork(a, [7, 8])).toEqual(alone)
    const other = a.fork()
    run([7], 1, a)
    run([3], 1, other)
    expect(run([8], 1, a)).toEqual(alone)
    expect(run([7, 8], 1, b)).toEqual(run([...IDS.slice(20, 30), 7, 8], 1))
  })

  it.each([2, 5])('runs %i sequences in one pass as each alone', (count) => {
    const prompts = Array.from({ length: count }, (_, i) => IDS.slice(i, 3 * i + 3))
    const caches = prompts.map((ids) => {
      const cache = createKvCache(shape)
      if (ids.length > 1) run(ids.slice(0, -1), 32, cache)
      return cache
    })
    const parts = prompts.map((ids, i) => ({
      ids: ids.slice(-1),
      cache: caches[i]!,
      wants: 'last' as const,
    }))
    const together = transformer.run(parts).map((rows) => [...rows[0]!])
    expect(together).toEqual(prompts.map((ids) => run(ids, 1)))
  })

  it('gives the logits after each token where all are wanted', () => {
    const parts = [
      { ids: [9], cache: createKvCache(shape), wants: 'last' as const },
      { ids: IDS.slice(0, 6), cache: createKvCache(shape), wants: 'all' as const },
    ]
    const [one, all] = transformer.run(parts).map((rows) => rows.map((row) => [...row]))
    expect(one).toEqual([run([9], 1)])
    expect(all).toEqual([1, 2, 3, 4, 5, 6].map((end) => run(IDS.slice(0, end), 1)))
  })

  it('refuses to go past the context, and empty or overlong passes', () => {
    const cache = createKvCache(shape)
    for (let i = 0; i < shape.context; i++) forward([3], cache)
    expect(() => forward([3], cache)).toThrow(RangeError)
    expect(() => forward([], createKvCache(shape))).toThrow(RangeError)
    expect(() => forward(IDS, createKvCache(shape))).toThrow(RangeError)
  })
})
