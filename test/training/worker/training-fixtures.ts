/** A small random model, adapters and rollouts for tests of training. */
import type { Adapter, LowRank, Projection } from '../../../src/inference/tiny/lora/adapter.ts'
import { PROJECTIONS, projectionSize } from '../../../src/inference/tiny/lora/adapter.ts'
import { loadModel, type Model } from '../../../src/inference/tiny/model/model.ts'
import { createRandom } from '../../../src/inference/tiny/sampling/random.ts'
import type { TrajectoryGroup } from '../../../src/schemas/training/training-job.ts'
import { type FullAdapter, mapProjections } from '../../../src/training/gradient/network.ts'
import type { TrainingSequence } from '../../../src/training/worker/trajectory-reader.ts'
import { modelFile } from '../../tiny/gguf-fixture.ts'

export const SMALL_MODEL: Model = loadModel(modelFile())

/** Numbers from -half to half, the same ones for a seed. */
export function randomNumbers(count: number, seed: number, half = 0.5): Float64Array {
  const random = createRandom(BigInt(seed), 0)
  return Float64Array.from({ length: count }, () => (2 * random.next() - 1) * half)
}

/** An adapter that changes every projection. */
export function randomAdapter({ shape }: Model, rank: number, seed: number): FullAdapter {
  let next = seed
  const layers = Array.from({ length: shape.layers }, () =>
    mapProjections((projection) => {
      const { inputs, outputs } = projectionSize(shape, projection)
      return { a: randomNumbers(rank * inputs, next++), b: randomNumbers(outputs * rank, next++) }
    }),
  )
  return { rank, alpha: 2 * rank, layers }
}

/** Every matrix of an adapter with its place. */
export function listMatrices(adapter: Pick<Adapter, 'layers'>): [string, Float64Array][] {
  return adapter.layers.flatMap((layer, index) =>
    PROJECTIONS.flatMap((projection: Projection) => {
      const { a, b } = layer[projection] as LowRank
      return [
        [`layer ${index} ${projection} a`, a],
        [`layer ${index} ${projection} b`, b],
      ] satisfies [string, Float64Array][]
    }),
  )
}

/** A sequence of ids that begins with the given ones. */
export function sequenceOf(start: readonly number[], trained: readonly number[]): TrainingSequence {
  const places = trained.map((_, i) => start.length + i)
  const sampled = trained.map(() => Number.NaN)
  return { ids: [...start, ...trained], places, sampled }
}

/** A rollout as the chat endpoint and its client make it. */
export interface Rollout {
  readonly ids: readonly number[]
  readonly logprobs: readonly number[]
  readonly reward: number
}

/** A group of rollouts that answer the same question. */
export function groupOf(question: string, rollouts: readonly Rollout[]): TrajectoryGroup {
  return {
    trajectories: rollouts.map(({ ids, logprobs, reward }) => ({
      messages_and_choices: [
        { role: 'user', content: question },
        {
          finish_reason: 'stop',
          index: 0,
          message: { role: 'assistant', content: '' },
          logprobs: {
            content: ids.map((id, i) => ({
              token: `token_id:${id}`,
              logprob: logprobs[i] ?? 0,
            })),
          },
        },
      ],
      reward,
    })),
  }
}
