/** The hand-written derivative against finite differences, and the pass against the inference engine. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { LossConfig } from '../../../src/domain/training/policy-loss.ts'
import { resolveTrainingConfig } from '../../../src/domain/training/resolve-training-config.ts'
import { mergeAdapter } from '../../../src/inference/tiny/lora/adapter.ts'
import { createKvCache } from '../../../src/inference/tiny/model/kv-cache.ts'
import { loadModel, type Model } from '../../../src/inference/tiny/model/model.ts'
import { createTransformer } from '../../../src/inference/tiny/model/transformer.ts'
import { runForward } from '../../../src/training/gradient/forward.ts'
import { computeStep, scoreSequences } from '../../../src/training/gradient/gradient-step.ts'
import { findRuns, layOut } from '../../../src/training/gradient/layout.ts'
import { createNetwork, type Network } from '../../../src/training/gradient/network.ts'
import {
  listMatrices,
  randomAdapter,
  randomNumbers,
  SMALL_MODEL,
  sequenceOf,
} from '../worker/training-fixtures.ts'

const START = [1, 80, 90, 100, 2, 1]
const ANSWERS = [
  [50, 60, 70, 2],
  [50, 61, 2],
  [51, 3, 200, 100, 60, 2],
]
const DELTA = 1e-5
const noPause = async (): Promise<void> => {}

/** Rollouts of an older policy: the sampled logarithms are off by up to the given size. */
function makeData(network: Network, staleness: number) {
  const sequences = ANSWERS.map((answer) => sequenceOf(START, answer))
  const current = scoreSequences(network, sequences)
  return sequences.map((sequence, i) => {
    const drift = randomNumbers(sequence.places.length, 70 + i, staleness)
    const sampled = (current[i] ?? []).map((value, place) => value - (drift[place] ?? 0))
    return {
      sequence: { ...sequence, sampled: staleness === 0 ? sequence.sampled : sampled },
      advantage: [1.3, -0.7, 0.4][i] ?? 0,
      weight: [0.8, 1.5, 0.9][i] ?? 0,
    }
  })
}

/** The largest relative error over all matrices, each tried along a random direction. */
async function largestError(config: LossConfig, staleness: number): Promise<number> {
  const network = createNetwork(SMALL_MODEL, randomAdapter(SMALL_MODEL, 3, 5))
  const data = makeData(network, staleness)
  const { gradient } = await computeStep(network, data, config, noPause)
  const slopes = listMatrices({ layers: gradient })
  const errors: number[] = []
  for (const [place, [name, matrix]] of listMatrices(network.adapter).entries()) {
    const direction = randomNumbers(matrix.length, 900 + place)
    const lossAt = async (distance: number): Promise<number> => {
      for (let i = 0; i < matrix.length; i++) matrix[i]! += distance * direction[i]!
      network.refresh()
      const { loss } = await computeStep(network, data, config, noPause)
      for (let i = 0; i < matrix.length; i++) matrix[i]! -= distance * direction[i]!
      return loss
    }
    const measured = ((await lossAt(DELTA)) - (await lossAt(-DELTA))) / (2 * DELTA)
    const [slopeName, slope] = slopes[place]!
    expect(slopeName).toBe(name)
    const computed = slope.reduce((sum, value, i) => sum + value * direction[i]!, 0)
    expect(Math.abs(computed), name).toBeGreaterThan(1e-7)
    errors.push(Math.abs(measured - computed) / Math.max(Math.abs(measured), 1e-3))
  }
  expect(errors).toHaveLength(2 * 7 * SMALL_MODEL.shape.layers)
  return Math.max(...errors)
}

const wide = { epsilon: 0.9, epsilon_high: 9 }

describe('the gradient of every matrix', () => {
  it('the gradient of every matrix agrees with finite differences for the default loss', async () => {
    // Without sampled logarithms the clipped ratio is the constant 1, so the loss is its own derivative.
    expect(await largestError(resolveTrainingConfig(null), 0)).toBeLessThan(1e-6)
  })

  it.each(['token', 'sequence', 'average', 'geometric_average'] as const)(
    'the PPO gradient agrees with finite differences on stale rollouts with the ratio by %s',
    async (level) => {
      const config = resolveTrainingConfig({ ppo: true, ...wide, importance_sampling_level: level })
      expect(await largestError(config, 0.5)).toBeLessThan(1e-6)
    },
  )
})

describe('a pass', () => {
  const tiny = () =>
    loadModel(readFileSync(new URL('../../../src/inference/tiny/model/tiny.gguf', import.meta.url)))

  it.each<[string, () => Model]>([
    ['a small random model', () => SMALL_MODEL],
    ['the shipped model', tiny],
  ])('a pass has the logits of the engine with the merged adapter: %s', (_name, load) => {
    const model = load()
    const { vocab } = model.shape
    const ids = Array.from({ length: 30 }, (_, i) => (i * 37 + 5) % vocab)
    const adapter = randomAdapter(model, 4, 11)
    for (const [, matrix] of listMatrices(adapter)) for (const i of matrix.keys()) matrix[i]! *= 0.2
    const merged = createTransformer(mergeAdapter(model, adapter))
    const cache = createKvCache(model.shape)
    const [rows] = merged.run([{ ids: ids.slice(0, 29), cache, wants: 'all' }])
    const places = Array.from({ length: 29 }, (_, i) => i + 1)
    const pass = runForward(createNetwork(model, adapter), layOut([{ ids, places, sampled: [] }]))
    const differences = rows!.flatMap((row, i) =>
      [...row].map((logit, id) => Math.abs(logit - pass.logits[i * vocab + id]!)),
    )
    expect(differences).toHaveLength(29 * vocab)
    expect(Math.max(...differences)).toBeLessThan(2e-4)
  })

  it('sequences with a shared prefix have the same numbers as alone', async () => {
    const network = createNetwork(SMALL_MODEL, randomAdapter(SMALL_MODEL, 3, 5))
    const data = makeData(network, 0.4)
    expect(findRuns(data)).toHaveLength(1)
    const together = await computeStep(network, data, resolveTrainingConfig(null), noPause)
    const alone = new Map<string, Float64Array>()
    const tokens = data.reduce((sum, { sequence }) => sum + sequence.places.length, 0)
    for (const datum of data) {
      const config = resolveTrainingConfig(null)
      const { gradient } = await computeStep(network, [datum], config, noPause)
      const share = datum.sequence.places.length / tokens
      for (const [name, matrix] of listMatrices({ layers: gradient })) {
        const sum = alone.get(name) ?? new Float64Array(matrix.length)
        for (const i of matrix.keys()) sum[i]! += share * matrix[i]!
        alone.set(name, sum)
      }
    }
    for (const [name, matrix] of listMatrices({ layers: together.gradient })) {
      const worst = Math.max(...matrix.map((value, i) => Math.abs(value - alone.get(name)![i]!)))
      // The floor under the number of tokens makes up a millionth.
      expect(worst, name).toBeLessThan(1e-5 * Math.max(...matrix.map(Math.abs)))
    }
  })
})

describe('runs of sequences', () => {
  const holder = (start: readonly number[], trained: readonly number[]) => ({
    sequence: sequenceOf(start, trained),
  })

  it('runs of sequences are split where no prefix is shared', () => {
    const runs = findRuns([holder([1, 2], [3]), holder([1, 2], [4]), holder([5, 6], [7])])
    expect(runs.map((run) => run.length)).toEqual([2, 1])
  })

  it('runs of sequences are split at the row limit', () => {
    const start = Array.from({ length: 150 }, (_, i) => i)
    const own = Array.from({ length: 150 }, (_, i) => i)
    const runs = findRuns(Array.from({ length: 6 }, (_, i) => holder(start, [i + 7, ...own])))
    expect(runs.map((run) => run.length)).toEqual([2, 2, 2])
  })

  it('trained tokens inside a shared prefix are found', () => {
    const layout = layOut([sequenceOf([1, 2], [3, 4, 5]), sequenceOf([1, 2], [3, 4, 6, 7])])
    expect(layout.shared).toBe(4)
    expect(layout.ids).toEqual([1, 2, 3, 4, 6])
    expect(layout.positions).toEqual([0, 1, 2, 3, 4])
    expect(layout.wanted).toEqual([
      [1, 2, 3],
      [1, 2, 3, 4],
    ])
  })
})
