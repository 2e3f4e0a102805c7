/** Each sampling parameter by itself, on logits made by hand. */
import { describe, expect, it } from 'vitest'
import { createRandom } from '../../../src/inference/tiny/sampling/random.ts'
import {
  createSamplerState,
  type SamplingParams,
  sampleToken,
} from '../../../src/inference/tiny/sampling/sampler.ts'

const NEUTRAL: SamplingParams = {
  temperature: 1,
  topK: 0,
  topP: 1,
  minP: 0,
  repetitionPenalty: 1,
  frequencyPenalty: 0,
  presencePenalty: 0,
  logitBias: new Map(),
  allowedIds: null,
  badWords: [],
  minTokens: 0,
  endIds: [],
  topLogprobs: null,
}
const GREEDY = { ...NEUTRAL, temperature: 0 }

/** Logits of the given probabilities. */
const logitsOf = (...probabilities: number[]) => Float32Array.from(probabilities, Math.log)
const stateOf = (size: number, prompt: readonly number[] = [], seed = 1n) =>
  createSamplerState(createRandom(seed, 0), prompt, size)

/** The greedy choice after the given tokens were already generated. */
function greedy(
  logits: readonly number[],
  params: Partial<SamplingParams>,
  { prompt = [], generated = [] }: { prompt?: number[]; generated?: number[] } = {},
): number | undefined {
  const state = stateOf(logits.length, prompt)
  for (const id of generated) state.counts[id]!++
  state.generated.push(...generated)
  return sampleToken(Float32Array.from(logits), { ...GREEDY, ...params }, state)?.id
}

/** How often each token is drawn. Every draw has a state of its own, so that nothing adds up. */
function shares(logits: Float32Array, params: Partial<SamplingParams>, draws = 4_000): number[] {
  const random = createRandom(11n, 0)
  const counts = Array.from(logits, () => 0)
  for (let i = 0; i < draws; i++) {
    const state = createSamplerState(random, [], logits.length)
    counts[sampleToken(logits, { ...NEUTRAL, ...params }, state)!.id]!++
  }
  return counts.map((count) => count / draws)
}

describe('temperature', () => {
  const logits = logitsOf(0.2, 0.5, 0.3)

  it('of 0 always takes the likeliest token, the first of equals', () => {
    expect(shares(logits, { temperature: 0 }, 50)).toEqual([0, 1, 0])
    expect(shares(logits, { temperature: 9e-6 }, 50)).toEqual([0, 1, 0])
    expect(greedy([1, 3, 3], {})).toBe(1)
  })

  it('of 1 draws by the probabilities of the model', () => {
    const drawn = shares(logits, {})
    expect(drawn[0]).toBeCloseTo(0.2, 1)
    expect(drawn[1]).toBeCloseTo(0.5, 1)
    expect(drawn[2]).toBeCloseTo(0.3, 1)
  })

  it('of 2 draws by the roots of the probabilities, of 0.5 by their squares', () => {
    const expected = (power: number) => {
      const weights = [0.2, 0.5, 0.3].map((p) => p ** power)
      return weights.map((w) => w / weights.reduce((a, b) => a + b))
    }
    for (const temperature of [0.5, 2]) {
      const drawn = shares(logits, { temperature })
      drawn.forEach((share, id) => {
        expect(Math.abs(share - expected(1 / temperature)[id]!)).toBeLessThan(0.03)
      })
    }
  })
})

describe('filters', () => {
  const logits = logitsOf(0.1, 0.4, 0.3, 0.2)
  const drawn = (params: Partial<SamplingParams>) =>
    shares(logits, params, 500).flatMap((share, id) => (share > 0 ? [id] : []))

  it('top_k keeps the k likeliest; 0 and -1 keep all', () => {
    expect(drawn({ topK: 1 })).toEqual([1])
    expect(drawn({ topK: 2 })).toEqual([1, 2])
    expect(drawn({ topK: 0 })).toHaveLength(4)
    expect(drawn({ topK: -1 })).toHaveLength(4)
    expect(drawn({ topK: 99 })).toHaveLength(4)
  })

  it('top_p keeps the fewest tokens that make up the share, at least one', () => {
    expect(drawn({ topP: 0.01 })).toEqual([1])
    expect(drawn({ topP: 0.39 })).toEqual([1])
    expect(drawn({ topP: 0.65 })).toEqual([1, 2])
    expect(drawn({ topP: 0.85 })).toEqual([1, 2, 3])
    expect(drawn({ topP: 1 })).toHaveLength(4)
  })

  it('top_p counts the share within what top_k left', () => {
    // Of 0.4 and 0.3 the first makes up 57 %.
    expect(drawn({ topK: 2, topP: 0.55 })).toEqual([1])
    expect(drawn({ topK: 2, topP: 0.6 })).toEqual([1, 2])
  })

  it('min_p drops what is less likely than its part of the likeliest', () => {
    expect(drawn({ minP: 0.3 })).toEqual([1, 2, 3])
    expect(drawn({ minP: 0.6 })).toEqual([1, 2])
    expect(drawn({ minP: 1 })).toEqual([1])
  })

  it('keep the odds of what is left', () => {
    const left = shares(logits, { topK: 2 })
    expect(left[1]).toBeCloseTo(4 / 7, 1)
    expect(left[2]).toBeCloseTo(3 / 7, 1)
  })
})

describe('penalties', () => {
  it('repetition divides positive and multiplies negative logits, of prompt and answer', () => {
    expect(greedy([2, 1.5], { repetitionPenalty: 2 }, { prompt: [0] })).toBe(1)
    expect(greedy([2, 1.5], { repetitionPenalty: 2 }, { generated: [0] })).toBe(1)
    expect(greedy([-1, -1.5], { repetitionPenalty: 2 }, { prompt: [0] })).toBe(1)
    expect(greedy([2, 1.5], { repetitionPenalty: 1.2 }, { prompt: [0] })).toBe(0)
    expect(greedy([2, 1.5], { repetitionPenalty: 0.5 }, { prompt: [1] })).toBe(1)
  })

  it('frequency takes its amount for each time, of the answer only', () => {
    const generated = [0, 0, 0]
    expect(greedy([2, 1], { frequencyPenalty: 0.4 }, { generated })).toBe(1)
    expect(greedy([2, 1], { frequencyPenalty: 0.4 }, { generated: [0, 0] })).toBe(0)
    expect(greedy([2, 1], { frequencyPenalty: 2 }, { prompt: [0] })).toBe(0)
    expect(greedy([2, 1], { frequencyPenalty: -2 }, { generated: [1] })).toBe(1)
  })

  it('presence takes its amount once, of the answer only', () => {
    const generated = [0, 0, 0]
    expect(greedy([2, 1], { presencePenalty: 0.9 }, { generated })).toBe(0)
    expect(greedy([2, 1], { presencePenalty: 1.1 }, { generated: [0] })).toBe(1)
    expect(greedy([2, 1], { presencePenalty: 2 }, { prompt: [0] })).toBe(0)
  })

  it('count what the sampler itself has drawn', () => {
    const state = stateOf(2)
    const params = { ...GREEDY, presencePenalty: 2 }
    const logits = Float32Array.of(1, 0)
    const ids = [0, 1, 2, 3].map(() => sampleToken(logits, params, state)?.id)
    expect(ids).toEqual([0, 1, 0, 0])
    expect([...state.counts]).toEqual([3, 1])
    expect(state.generated).toEqual(ids)
  })
})

describe('the vocabulary', () => {
  it('logit_bias raises and bans tokens', () => {
    expect(greedy([3, 2, 1], { logitBias: new Map([[2, 2.5]]) })).toBe(2)
    expect(greedy([3, 2, 1], { logitBias: new Map([[0, -100]]) })).toBe(1)
  })

  it('logit_bias is cut to -100 and 100', () => {
    expect(greedy([150, 0], { logitBias: new Map([[1, 5_000]]) })).toBe(0)
    expect(greedy([150, 0], { logitBias: new Map([[0, -5_000]]) })).toBe(0)
  })

  it('allowed_token_ids leave nothing else', () => {
    expect(greedy([3, 2, 1], { allowedIds: new Set([1, 2]) })).toBe(1)
    const drawn = shares(logitsOf(0.9, 0.05, 0.05), { allowedIds: new Set([2]) }, 50)
    expect(drawn).toEqual([0, 0, 1])
  })

  it('min_tokens bans what would end the answer, until there are enough', () => {
    const params = { minTokens: 2, endIds: [0] }
    expect(greedy([3, 2], params)).toBe(1)
    expect(greedy([3, 2], params, { generated: [1] })).toBe(1)
    expect(greedy([3, 2], params, { generated: [1, 1] })).toBe(0)
  })

  it('bad_words ban the last token of a sequence behind the others', () => {
    const params = { badWords: [[0], [1, 1, 2]] }
    expect(greedy([3, 1, 2], params)).toBe(2)
    expect(greedy([3, 1, 2], params, { generated: [1] })).toBe(2)
    expect(greedy([3, 1, 2], params, { generated: [2, 1, 1] })).toBe(1)
    expect(greedy([3, 1, 2], params, { generated: [1, 1, 1, 2] })).toBe(2)
    expect(greedy([3, 1, 2], params, { prompt: [1, 1] })).toBe(2)
  })

  it('a grammar leaves only what its mask allows', () => {
    const state = stateOf(40)
    const mask = Int32Array.of(0, 1 << 5)
    expect(sampleToken(new Float32Array(40), GREEDY, state, mask)?.id).toBe(37)
    expect(sampleToken(new Float32Array(40), GREEDY, state, Int32Array.of(0, 0))).toBeNull()
  })

  it('that is empty gives no token', () => {
    const params = { minTokens: 2, endIds: [0], allowedIds: new Set([0]) }
    expect(greedy([3, 2], params)).toBeUndefined()
  })
})

describe('log-probabilities', () => {
  const logits = logitsOf(0.1, 0.4, 0.3, 0.2)
  const sample = (params: Partial<SamplingParams>) =>
    sampleToken(logits, { ...GREEDY, ...params }, stateOf(4))!

  it('are left out unless asked for', () => {
    expect(sample({}).top).toBeNull()
  })

  it('list exactly as many alternatives as asked for, the likeliest first', () => {
    expect(sample({ topLogprobs: 0 })).toMatchObject({ id: 1, top: [] })
    expect(sample({ topLogprobs: 3 }).top?.map(({ id }) => id)).toEqual([1, 2, 3])
    expect(sample({ topLogprobs: -1 }).top).toHaveLength(4)
  })

  it('are the ones drawn from: after bans, biases, penalties, temperature and filters', () => {
    const top = sample({
      temperature: 0.5,
      topLogprobs: -1,
      allowedIds: new Set([0, 1, 2]),
      logitBias: new Map([[0, Math.log(2)]]),
      topK: 2,
    }).top!
    // 0.2, 0.4 and 0.3 are squared, and the two largest are kept.
    expect(top.map(({ id }) => id)).toEqual([1, 2, 0, 3])
    expect(top[0]?.logprob).toBeCloseTo(Math.log(0.16 / 0.25), 5)
    expect(top[1]?.logprob).toBeCloseTo(Math.log(0.09 / 0.25), 5)
    expect(top.slice(2).map(({ logprob }) => logprob)).toEqual([-9999, -9999])
  })

  it('are told of all that top_k keeps, also of tokens that hardly change the sum', () => {
    const far = Float32Array.of(0, -40, -41)
    const sampled = sampleToken(far, { ...NEUTRAL, topK: 2, topLogprobs: 3 }, stateOf(3))
    expect(sampled?.top?.map(({ logprob }) => logprob)).toEqual([0, -40, -9999])
  })

  it('are at temperature 0 those of temperature 1', () => {
    const { id, logprob, top } = sample({ topLogprobs: 2, topK: 1, topP: 0.1 })
    expect(id).toBe(1)
    expect(logprob).toBeCloseTo(Math.log(0.4), 5)
    expect(top?.[1]?.logprob).toBeCloseTo(Math.log(0.3), 5)
  })

  it('sum up to 1', () => {
    const top = sample({ topLogprobs: -1 }).top!
    expect(top.reduce((sum, { logprob }) => sum + Math.exp(logprob), 0)).toBeCloseTo(1, 6)
  })

  it('go no lower than -9999', () => {
    const far = Float32Array.of(0, -1e9, Number.NEGATIVE_INFINITY)
    const sampled = sampleToken(far, { ...GREEDY, topLogprobs: 3 }, stateOf(3))
    expect(sampled?.top?.map(({ logprob }) => logprob)).toEqual([0, -9999, -9999])
  })
})

describe('draws', () => {
  /** The sum of squared differences by expectation; 99.9 % of true samples are below the bound. */
  it.each<[string, Partial<SamplingParams>]>([
    ['plain', {}],
    ['temperature', { temperature: 0.6 }],
    ['top_k', { topK: 5 }],
    ['top_p', { topP: 0.8 }],
    ['min_p', { minP: 0.2, temperature: 1.4 }],
    ['bias and ban', { logitBias: new Map([[3, 2]]), badWords: [[1]] }],
    ['penalties', { repetitionPenalty: 1.3, presencePenalty: 0.5 }],
  ])('come as often as their log-probabilities say: %s', (_name, params) => {
    const logits = Float32Array.from({ length: 12 }, (_, i) => Math.sin(i * 2.3) * 2)
    const random = createRandom(2024n, 0)
    const draws = 20_000
    const counts = new Float64Array(12)
    let stated: readonly { id: number; logprob: number }[] = []
    for (let i = 0; i < draws; i++) {
      const state = createSamplerState(random, [2, 4], 12)
      const all = { ...NEUTRAL, ...params, topLogprobs: i === 0 ? -1 : null }
      const sampled = sampleToken(logits, all, state)!
      counts[sampled.id]!++
      stated = sampled.top ?? stated
    }
    let chiSquare = 0
    for (const { id, logprob } of stated) {
      const expected = Math.exp(logprob) * draws
      if (logprob === -9999) expect(counts[id]).toBe(0)
      else chiSquare += (counts[id]! - expected) ** 2 / expected
    }
    // Eleven degrees of freedom at the most.
    expect(chiSquare).toBeLessThan(31.3)
  })
})

describe('sampleToken', () => {
  it('leaves the logits as they are', () => {
    const logits = Float32Array.of(1, 2, 3)
    const params = { ...NEUTRAL, logitBias: new Map([[0, 5]]), topK: 1, repetitionPenalty: 2 }
    sampleToken(logits, params, stateOf(3, [0, 1]))
    expect([...logits]).toEqual([1, 2, 3])
  })

  it('draws the same tokens for the same seed, others for another', () => {
    const logits = new Float32Array(100)
    const draw = (seed: bigint) => {
      const state = stateOf(100, [], seed)
      return Array.from({ length: 12 }, () => sampleToken(logits, NEUTRAL, state)?.id)
    }
    expect(draw(5n)).toEqual(draw(5n))
    expect(draw(5n)).not.toEqual(draw(6n))
  })
})
