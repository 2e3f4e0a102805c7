/** Whole jobs on a small model: what comes out, what changes it, what does not. */
import { describe, expect, it } from 'vitest'
import { resolveTrainingConfig } from '../../../src/domain/training/resolve-training-config.ts'
import { readArtifact, writeArtifact } from '../../../src/inference/tiny/lora/artifact.ts'
import type { TrajectoryGroup } from '../../../src/schemas/training/training-job.ts'
import { createAdam } from '../../../src/training/gradient/adam.ts'
import { createGradient } from '../../../src/training/gradient/backward.ts'
import { scoreSequences } from '../../../src/training/gradient/gradient-step.ts'
import { createNetwork } from '../../../src/training/gradient/network.ts'
import { completeAdapter, createAdapter } from '../../../src/training/gradient/new-adapter.ts'
import { STEP_TOKENS_MAX } from '../../../src/training/worker/batch.ts'
import { createJobTrainer, type TrainingResult } from '../../../src/training/worker/train-job.ts'
import {
  groupOf,
  listMatrices,
  type Rollout,
  randomNumbers,
  SMALL_MODEL,
  sequenceOf,
} from './training-fixtures.ts'

type Config = Parameters<typeof resolveTrainingConfig>[0]

const { shape } = SMALL_MODEL
const SIZE = { rank: 2, alpha: 4 }
const trainer = createJobTrainer(SMALL_MODEL, 'small', SIZE)
/** The prompt of `groupOf('hi', …)`: all of its tokens stand for bytes or are control tokens. */
const PROMPT = [1, ...bytes('user\nhi'), 2, ...bytes('\n'), 1, ...bytes('assistant\n')]
const ANSWERS = [
  [40, 50, 2],
  [41, 2],
  [42, 52, 62, 2],
  [43, 50, 60, 2],
  [44, 2],
  [40, 51, 2],
]
const REWARDS = [3, 0, 1, 0.5, 2, 0.2]

function bytes(text: string): number[] {
  const tokens = SMALL_MODEL.vocabulary.tokens
  return Array.from(text, (character) => tokens.indexOf(character === '\n' ? 'Ċ' : character))
}

async function train(
  groups: readonly TrajectoryGroup[],
  sent: Config = null,
  parent: Uint8Array | null = null,
): Promise<TrainingResult & { steps: number; told: Readonly<Record<string, number>>[] }> {
  let steps = -1
  const told: Readonly<Record<string, number>>[] = []
  const config = resolveTrainingConfig({ learning_rate: 0.01, ...sent })
  const result = await trainer.train(
    { groups, config, parent },
    {
      onStart: (count) => {
        steps = count
      },
      onStep: (metrics) => told.push(metrics),
      pause: async () => {},
    },
  )
  return { ...result, steps, told }
}

/** The logarithms of the answers under a checkpoint, as its policy would have reported them. */
function logprobsUnder(artifact: Uint8Array | null): number[][] {
  const adapter =
    artifact === null
      ? createAdapter(shape, SIZE)
      : completeAdapter(shape, readArtifact(artifact, shape).adapter)
  const sequences = ANSWERS.map((ids) => sequenceOf(PROMPT, ids))
  return scoreSequences(createNetwork(SMALL_MODEL, adapter), sequences)
}

function rollouts(logprobs: readonly (readonly number[])[]): Rollout[] {
  return ANSWERS.map((ids, i) => ({ ids, logprobs: logprobs[i]!, reward: REWARDS[i]! }))
}

/** Two groups: with one alone, scale_rewards cancels out but for the millionth. */
function groupsOf(logprobs: readonly (readonly number[])[]): TrajectoryGroup[] {
  const all = rollouts(logprobs)
  return [groupOf('hi', all.slice(0, 3)), groupOf('hi', all.slice(3))]
}

/** A chain of three checkpoints; its rollouts were sampled by the first. */
async function makeHistory() {
  const first = (await train(groupsOf(logprobsUnder(null)), { learning_rate: 0.05 })).artifact!
  const stale = logprobsUnder(first)
  const second = (await train(groupsOf(stale), { learning_rate: 0.05 }, first)).artifact!
  const parent = (await train(groupsOf(logprobsUnder(second)), {}, second)).artifact!
  return { parent, stale, fresh: logprobsUnder(parent) }
}

describe('a job', () => {
  it('a job reports numbered steps, and its checkpoint has the same metric names', async () => {
    const { steps, told, metrics, artifact, reason } = await train(groupsOf(logprobsUnder(null)))
    expect({ steps, reason }).toEqual({ steps: 1, reason: null })
    expect(artifact).not.toBeNull()
    expect(told).toHaveLength(1)
    expect(told[0]).toEqual(metrics)
    expect(metrics).toMatchObject({
      num_groups_submitted: 2,
      num_groups_trainable: 2,
      num_trajectories: 6,
      num_datums: 6,
      num_trainable_tokens: 18,
      train_tokens: 6 * PROMPT.length + 18,
      learning_rate: 0.01,
    })
    expect(metrics.reward).toBeCloseTo(6.7 / 6, 12)
    expect(metrics.kl_div).toBeCloseTo(0, 9)
    expect(metrics.grad_norm).toBeGreaterThan(0)
    expect(metrics.entropy).toBeGreaterThan(0)
    expect(Object.values(metrics).every(Number.isFinite)).toBe(true)
  })

  it.each([true, false])(
    'a job trains on rewards of any size (scale_rewards %s)',
    async (scale_rewards) => {
      const all = rollouts(logprobsUnder(null))
      const rewarded = (rewards: readonly number[]) =>
        groupOf(
          'hi',
          rewards.map((reward, i) => ({ ...all[i]!, reward })),
        )
      const large = [rewarded([1e155, 0]), rewarded([1.7e308, -1.7e308, -1.7e308, -1.7e308])]
      const equal = rewarded([1.7e308, 1.7e308])
      const groups = [...large, rewarded([1, 0]), equal]
      const { metrics, artifact, told } = await train(groups, { scale_rewards })
      expect(artifact).not.toBeNull()
      expect(metrics).toMatchObject({ num_groups_trainable: 3, num_groups_no_variance: 1 })
      for (const numbers of [metrics, ...told]) {
        expect(Object.entries(numbers).filter(([, number]) => !Number.isFinite(number))).toEqual([])
      }
    },
  )

  it('a repeated job yields the same bytes', async () => {
    const { parent, stale } = await makeHistory()
    const again = await makeHistory()
    expect(again.parent).toEqual(parent)
    const next = await train(groupsOf(stale), {}, parent)
    expect((await train(groupsOf(stale), {}, parent)).artifact).toEqual(next.artifact)
  })

  it('a job makes good tokens likelier and bad ones less likely', async () => {
    const before = logprobsUnder(null)
    const group = groupOf('hi', rollouts(before))
    const { artifact } = await train([group], { learning_rate: 0.03 })
    const sum = (list: readonly number[]) => list.reduce((total, value) => total + value, 0)
    const after = logprobsUnder(artifact)
    expect(sum(after[0]!)).toBeGreaterThan(sum(before[0]!))
    expect(sum(after[1]!)).toBeLessThan(sum(before[1]!))
  })

  it('a job is split into steps of a limited number of tokens', async () => {
    const longest = Array.from({ length: shape.context - PROMPT.length }, () => 50)
    const one = { ids: longest, logprobs: longest.map(() => -1) }
    const count = Math.floor(STEP_TOKENS_MAX / shape.context) + 1
    const group = groupOf(
      'hi',
      Array.from({ length: count }, (_, i) => ({ ...one, reward: i })),
    )
    const { steps, told } = await train([group])
    expect(steps).toBe(2)
    expect(told).toHaveLength(2)
  })

  it('a job continues with the optimizer of its parent', async () => {
    const groups = groupsOf(logprobsUnder(null))
    const first = (await train(groups)).artifact!
    const { adapter, optimizer } = readArtifact(first, shape)
    expect(optimizer?.metadata).toEqual({ step: '1' })
    const second = (await train(groups, {}, first)).artifact!
    expect(readArtifact(second, shape).optimizer?.metadata).toEqual({ step: '2' })
    const files = { adapter: completeAdapter(shape, adapter), optimizer: null }
    const forgotten = (await train(groups, {}, writeArtifact(files, shape, 'small'))).artifact!
    expect(readArtifact(forgotten, shape).optimizer?.metadata).toEqual({ step: '1' })
    expect(forgotten).not.toEqual(second)
  })

  it('a job fails when its weights are no longer finite', async () => {
    const groups = groupsOf(logprobsUnder(null))
    await expect(train(groups, { learning_rate: 1e39 })).rejects.toMatchObject({
      name: 'DivergedError',
    })
  })

  it('a job fails with the error that its pause throws', async () => {
    const stopped = new Error('stopped')
    const input = {
      groups: groupsOf(logprobsUnder(null)),
      config: resolveTrainingConfig(null),
      parent: null,
    }
    const hooks = { onStart: () => {}, onStep: () => {}, pause: () => Promise.reject(stopped) }
    await expect(trainer.train(input, hooks)).rejects.toBe(stopped)
  })

  it('the error for a rollout that does not fit the model contains its path', async () => {
    const group = groupOf('hi', [{ ids: [shape.vocab], logprobs: [0], reward: 1 }])
    await expect(train([groupOf('hi', []), group])).rejects.toMatchObject({
      name: 'TrajectoryError',
      message: expect.stringContaining('trajectory_groups[1].trajectories[0]'),
    })
  })
})

describe('nothing to learn', () => {
  const all = rollouts(logprobsUnder(null))
  const equal = groupOf(
    'hi',
    all.map((one) => ({ ...one, reward: 1 })),
  )
  const silent = groupOf(
    'hi',
    all.map((one) => ({ ...one, ids: [] })),
  )
  const unchosen: TrajectoryGroup = {
    trajectories: REWARDS.map((reward) => ({
      messages_and_choices: [{ role: 'user', content: 'hi' }],
      reward,
    })),
  }

  it.each<[string, TrajectoryGroup[]]>([
    ['no_choice', [unchosen]],
    ['no_choice', [{ trajectories: [] }]],
    ['no_logprobs', [silent, unchosen]],
    ['no_variance', [equal, silent, unchosen]],
    ['no_variance', [groupOf('hi', all.slice(0, 1))]],
  ])('a job with nothing to learn ends as %s', async (reason, groups) => {
    const result = await train(groups)
    expect(result).toMatchObject({ reason, artifact: null, steps: 0, told: [] })
    expect(result.metrics.num_groups_trainable).toBe(0)
    expect(result.metrics.num_groups_submitted).toBe(groups.length)
  })

  it('an absent reward counts as 0, and a group without rollouts as empty', async () => {
    const group = groupOf(
      'hi',
      all.map((one) => ({ ...one, reward: one === all[0] ? 1 : 0 })),
    )
    const { metrics: expected } = await train([group, { trajectories: [] }])
    for (const trajectory of group.trajectories ?? []) {
      if (trajectory.reward === 0) delete trajectory.reward
    }
    const { metrics } = await train([group, {}])
    expect(metrics).toEqual(expected)
  })

  it('untrained groups are counted by reason', async () => {
    const trainable = groupOf('hi', all)
    const { metrics, reason } = await train([equal, silent, unchosen, trainable, unchosen])
    expect(reason).toBeNull()
    expect(metrics).toMatchObject({
      num_groups_trainable: 1,
      num_groups_no_choice: 2,
      num_groups_no_logprobs: 1,
      num_groups_no_variance: 1,
    })
  })

  it('a job ends as no_variance when the balance removes all advantages', async () => {
    // Only the worst rollout has tokens, and balance 1 trains on good ones alone.
    const group = groupOf(
      'hi',
      all.map((one) => (one.reward === 0 ? one : { ...one, ids: [] })),
    )
    expect(await train([group], { advantage_balance: 1 })).toMatchObject({
      reason: 'no_variance',
      artifact: null,
    })
  })
})

describe('experimental_config', () => {
  const history = makeHistory()
  const FIELDS: readonly [string, Config, 'only stale' | 'always'][] = [
    ['ppo', { ppo: true }, 'only stale'],
    ['epsilon', { epsilon: 0.05 }, 'only stale'],
    ['epsilon_high', { epsilon_high: 0.1 }, 'only stale'],
    ['advantage_balance', { advantage_balance: 0.5 }, 'always'],
    ['scale_rewards', { scale_rewards: false }, 'always'],
    ['mask_prob_ratio', { mask_prob_ratio: true, epsilon: 0.2, epsilon_high: 0.2 }, 'only stale'],
    // On fresh rollouts it only makes the gradient smaller, and this one is cut to the same norm anyway.
    [
      'max_negative_advantage_importance_sampling_weight',
      { max_negative_advantage_importance_sampling_weight: 0.8 },
      'only stale',
    ],
    ['model_k2_tau', { model_k2_tau: 0.5 }, 'only stale'],
    ['precalculate_logprobs', { precalculate_logprobs: true }, 'only stale'],
    ['importance_sampling_level', { importance_sampling_level: 'sequence' }, 'only stale'],
    ['learning_rate', { learning_rate: 0.02 }, 'always'],
  ]

  /** The change that a job makes, compared with the default job's: 0 when both are the same. */
  async function effect(config: Config, logprobs: readonly (readonly number[])[]) {
    const { parent } = await history
    const numbers = async (sent: Config): Promise<number[]> => {
      const { artifact } = await train(groupsOf(logprobs), sent, parent)
      const { adapter } = readArtifact(artifact!, shape)
      return listMatrices(adapter).flatMap(([, matrix]) => [...matrix])
    }
    const before = listMatrices(readArtifact(parent, shape).adapter).flatMap(([, m]) => [...m])
    const [usual, changed] = [await numbers(null), await numbers(config)]
    const size = (list: readonly number[]) => Math.hypot(...list)
    return (
      size(changed.map((value, i) => value - usual[i]!)) /
      size(usual.map((value, i) => value - before[i]!))
    )
  }

  it('stale rollouts have ratios other than 1', async () => {
    const { fresh, stale } = await history
    const ratios = fresh.flatMap((list, i) =>
      list.map((value, k) => Math.exp(value - stale[i]![k]!)),
    )
    expect(Math.min(...ratios)).toBeLessThan(0.9)
    expect(Math.max(...ratios)).toBeGreaterThan(1.25)
  })

  it.each(FIELDS)('setting %s changes the adapter on stale rollouts', async (_name, config) => {
    expect(await effect(config, (await history).stale)).toBeGreaterThan(0.01)
  })

  it.each(FIELDS)('setting %s on fresh rollouts', async (_name, config, when) => {
    const found = await effect(config, (await history).fresh)
    if (when === 'always') expect(found).toBeGreaterThan(0.01)
    else expect(found).toBeLessThan(1e-5)
  })

  it('an upper bound of the ratio shrinks the gradient of fresh rollouts', async () => {
    const { fresh, parent } = await history
    const normOf = async (config: Config): Promise<number> =>
      (await train(groupsOf(fresh), config, parent)).metrics.grad_norm ?? 0
    const config = { max_negative_advantage_importance_sampling_weight: 0.8 }
    expect(await normOf(config)).toBeCloseTo(0.8 * (await normOf(null)), 6)
  })

  it('null in every config field means its default', async () => {
    const { parent, stale } = await history
    const nulls = Object.fromEntries(FIELDS.map(([name]) => [name, null]))
    const sent = { ...nulls, learning_rate: 0.01 }
    const { artifact } = await train(groupsOf(stale), sent, parent)
    expect(artifact).toEqual((await train(groupsOf(stale), null, parent)).artifact)
  })
})

describe('the optimizer', () => {
  /** A network whose gradient is the same number everywhere. */
  function setUp() {
    const network = createNetwork(SMALL_MODEL, createAdapter(shape, SIZE))
    const gradient = createGradient(network)
    const first = network.adapter.layers[0]!.query.b
    return { network, gradient, first, slope: gradient[0]!.query.b }
  }

  it('the first optimizer step has the size of the learning rate, against the gradient, with bias correction', () => {
    const { network, gradient, first, slope } = setUp()
    const adam = createAdam(network, null)
    slope[0] = 0.5
    slope[1] = -0.001
    expect(adam.step(gradient, 0.1)).toBeCloseTo(Math.hypot(0.5, 0.001), 12)
    expect(first[0]).toBeCloseTo(-0.1, 6)
    expect(first[1]).toBeCloseTo(0.1, 5)
    expect(first[2]).toBe(0)
    slope[0] = 0
    adam.step(gradient, 0.1)
    // Mean 0.9 * 0.05 / (1 - 0.81), square 0.99 * 0.0025 / (1 - 0.9801).
    const moved = (0.1 * (0.045 / 0.19)) / Math.sqrt(0.002475 / 0.0199)
    expect(first[0]).toBeCloseTo(-0.1 - moved, 6)
  })

  it('a gradient is clipped to the norm 1, and its norm before reported', () => {
    const cut = setUp()
    cut.slope.set([30, 40])
    const adam = createAdam(cut.network, null)
    expect(adam.step(cut.gradient, 0.1)).toBeCloseTo(50, 12)
    const name = 'exp_avg.base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight'
    const [mean] = adam.save().tensors.get(name)!.values
    expect(mean).toBeCloseTo(0.1 * 0.6, 12)
    expect([...cut.slope.slice(0, 2)]).toEqual([30, 40])
  })

  it('the optimizer continues from its saved state', () => {
    const [one, two] = [setUp(), setUp()]
    const slopes = randomNumbers(one.slope.length, 4)
    one.slope.set(slopes)
    two.slope.set(slopes)
    const whole = createAdam(one.network, null)
    whole.step(one.gradient, 0.1)
    whole.step(one.gradient, 0.1)
    const begun = createAdam(two.network, null)
    begun.step(two.gradient, 0.1)
    createAdam(two.network, begun.save()).step(two.gradient, 0.1)
    expect(two.first).toEqual(one.first)
  })
})
