/** Inverses and invariants of training's parts, over whatever they may get. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { groupAdvantages, weighBatch } from '../../../src/domain/training/advantages.ts'
import { policyLoss } from '../../../src/domain/training/policy-loss.ts'
import { resolveTrainingConfig } from '../../../src/domain/training/resolve-training-config.ts'
import { readSafetensors, writeSafetensors } from '../../../src/inference/tiny/lora/safetensors.ts'
import { readTar, writeTar } from '../../../src/inference/tiny/lora/tar.ts'
import { findRuns, layOut, PASS_ROWS_MAX } from '../../../src/training/gradient/layout.ts'
import { sequenceOf } from './training-fixtures.ts'

const names = fc.stringMatching(/^[a-z][a-z0-9._]{0,40}$/)
const ids = (minLength: number) =>
  fc.array(fc.integer({ min: 0, max: 2 }), { minLength, maxLength: 6 })
const sequences = fc.array(
  fc.tuple(ids(1), ids(1)).map(([start, trained]) => ({ sequence: sequenceOf(start, trained) })),
  { minLength: 1, maxLength: 12 },
)

it('reads every archive as it was written', () => {
  fc.assert(
    fc.property(fc.dictionary(names, fc.uint8Array({ maxLength: 1_500 })), (files) => {
      const read = readTar(writeTar(new Map(Object.entries(files))))
      expect([...read].map(([name, bytes]) => [name, [...bytes]])).toEqual(
        Object.entries(files).map(([name, bytes]) => [name, [...bytes]]),
      )
    }),
  )
})

it('reads every set of tensors as it was written, rounded to 32 bits', () => {
  const values = fc.float64Array({ maxLength: 20, noNaN: true, min: -1e30, max: 1e30 })
  fc.assert(
    fc.property(
      fc.dictionary(names, values),
      fc.dictionary(names, fc.string()),
      (all, metadata) => {
        const tensors = new Map(
          Object.entries(all).map(([name, list]) => [name, { shape: [list.length], values: list }]),
        )
        const read = readSafetensors(writeSafetensors({ tensors, metadata }))
        expect(read.metadata).toEqual({ ...metadata })
        expect([...read.tensors].map(([name, { values: list }]) => [name, [...list]])).toEqual(
          Object.entries(all).map(([name, list]) => [name, [...Float32Array.from(list)]]),
        )
      },
    ),
  )
})

it('lays every sequence out whole: what a row sees spells the sequence up to it', () => {
  fc.assert(
    fc.property(sequences, (holders) => {
      const runs = findRuns(holders)
      expect(runs.flat()).toEqual(holders)
      for (const run of runs) {
        const layout = layOut(run.map(({ sequence }) => sequence))
        expect(layout.ids.length).toBeLessThanOrEqual(PASS_ROWS_MAX)
        for (const [i, { sequence }] of run.entries()) {
          for (const [place, row] of layout.wanted[i]!.entries()) {
            const start = layout.starts[row]!
            const own = layout.ids.slice(start, row + 1)
            const seen = [...layout.ids.slice(0, Math.min(layout.shared, start)), ...own]
            expect(seen).toEqual(sequence.ids.slice(0, sequence.places[place]))
            expect(layout.positions[row]).toBe(seen.length - 1)
          }
        }
      }
    }),
  )
})

it('gives advantages that add up to 0, and weights and sizes whose mean over all tokens is 1', () => {
  const rewards = fc.array(fc.double({ min: -1e3, max: 1e3, noNaN: true }), {
    minLength: 2,
    maxLength: 12,
  })
  fc.assert(
    fc.property(
      rewards,
      fc.boolean(),
      fc.double({ min: -0.9, max: 0.9, noNaN: true }),
      (list, isScaled, balance) => {
        const advantages = groupAdvantages(list, isScaled)
        const size = Math.max(...advantages.map(Math.abs))
        fc.pre(size > 1e-9)
        const sum = (values: readonly number[]) => values.reduce((total, one) => total + one, 0)
        expect(Math.abs(sum(advantages))).toBeLessThan(
          1e-9 * Math.max(1, ...list.map(Math.abs)) * 1e3,
        )
        const trajectories = advantages.map((advantage, i) => ({
          advantage,
          trainableTokens: 1 + ((i * 7) % 5),
        }))
        const tokens = sum(trajectories.map(({ trainableTokens }) => trainableTokens))
        const weights = weighBatch(trajectories, balance)
        const meanOver = (value: (i: number) => number) =>
          sum(trajectories.map(({ trainableTokens }, i) => trainableTokens * value(i))) / tokens
        expect(meanOver((i) => weights[i]!.weight)).toBeCloseTo(1, 9)
        expect(meanOver((i) => weights[i]!.weight * Math.abs(weights[i]!.advantage))).toBeCloseTo(
          1,
          9,
        )
      },
    ),
  )
})

it('has slopes that are the derivative of the PPO loss wherever it has one', () => {
  const logprob = fc.double({ min: -4, max: -0.01, noNaN: true })
  const tokens = fc.array(fc.tuple(logprob, logprob), { minLength: 1, maxLength: 6 })
  const level = fc.constantFrom('token', 'sequence', 'average', 'geometric_average')
  fc.assert(
    fc.property(tokens, level, fc.constantFrom(-1.5, 0.7), (list, importance, advantage) => {
      const config = resolveTrainingConfig({ ppo: true, importance_sampling_level: importance })
      const sampled = list.map(([, old]) => old)
      const current = list.map(([now]) => now)
      const lossAt = (place: number, by: number) => {
        const moved = current.map((value, i) => (i === place ? value + by : value))
        return policyLoss(config, { current: moved, sampled, advantage }).loss
      }
      const { loss, slopes } = policyLoss(config, { current, sampled, advantage })
      for (const place of current.keys()) {
        const right = (lossAt(place, 1e-6) - loss) / 1e-6
        const left = (loss - lossAt(place, -1e-6)) / 1e-6
        // At the edge of the clip range the two sides differ.
        if (Math.abs(right - left) > 1e-3) continue
        expect(Math.abs(slopes[place]! - right)).toBeLessThan(1e-2 * Math.max(1, Math.abs(right)))
      }
    }),
  )
})
