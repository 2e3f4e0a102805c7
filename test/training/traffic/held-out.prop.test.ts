import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { holdOut } from '../../../src/domain/training/traffic/held-out.ts'
import { normalizePrompt } from '../../../src/domain/training/traffic/prompt-key.ts'

const rollout = fc.record({
  groupKey: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
  prompts: fc.array(fc.constantFrom('1', '2', '3', '4', '5', '6', '7'), {
    minLength: 1,
    maxLength: 3,
  }),
})

describe('holdOut', () => {
  it('has no prompt and no group on both sides', () => {
    fc.assert(
      fc.property(
        fc.array(rollout),
        fc.double({ min: 0, max: 0.9, noNaN: true }),
        fc.nat(),
        (rollouts, share, seed) => {
          const sides = holdOut(rollouts, { share, seed })
          const keys = (isHeldOut: boolean) =>
            new Set(
              rollouts.flatMap(({ groupKey, prompts }, index) =>
                sides[index] === isHeldOut ? [groupKey, ...prompts] : [],
              ),
            )
          expect([...keys(true)].filter((key) => keys(false).has(key))).toEqual([])
        },
      ),
    )
  })

  it('never moves what is held out to the training side when rollouts are added', () => {
    fc.assert(
      fc.property(fc.array(rollout), fc.array(rollout), fc.nat(), (rollouts, more, seed) => {
        const before = holdOut(rollouts, { share: 0.5, seed })
        const after = holdOut([...rollouts, ...more], { share: 0.5, seed })
        expect(before.filter((isHeldOut, index) => isHeldOut && !after[index])).toEqual([])
      }),
    )
  })

  it('depends on the prompt and the seed alone, and holds out the share that is asked for', () => {
    const prompts = Array.from({ length: 4000 }, (_, index) => `prompt ${index}`)
    const rollouts = prompts.map((prompt) => ({ groupKey: prompt, prompts: [prompt] }))
    const sides = holdOut(rollouts, { share: 0.25, seed: 1 })
    expect(holdOut(rollouts.slice(2000), { share: 0.25, seed: 1 })).toEqual(sides.slice(2000))
    expect(holdOut(rollouts, { share: 0.25, seed: 2 })).not.toEqual(sides)
    const more = holdOut(rollouts, { share: 0.5, seed: 1 })
    expect(sides.every((isHeldOut, index) => !isHeldOut || more[index])).toBe(true)
    expect(sides.filter(Boolean).length / 4000).toBeCloseTo(0.25, 1)
    expect(holdOut(rollouts, { share: 0, seed: 1 })).not.toContain(true)
  })
})

describe('normalizePrompt', () => {
  it.each([
    [[{ role: 'user', content: 'What  is\n3?' }], [{ content: ' what is 3? ', role: 'user' }]],
    [
      [{ role: 'user', content: 'ﬁne' }],
      [{ role: 'user', content: [{ type: 'text', text: 'FINE' }] }],
    ],
    [[{ role: 'user', content: 'a', name: null }], [{ role: 'user', content: 'a' }]],
  ])('is the same for %j and %j', (one, other) => {
    expect(normalizePrompt(one)).toBe(normalizePrompt(other))
  })

  it.each([
    [[{ role: 'user', content: 'a b' }], [{ role: 'user', content: 'ab' }]],
    [[{ role: 'user', content: 'a' }], [{ role: 'system', content: 'a' }]],
    [
      [{ role: 'user', content: 'a' }],
      [
        { role: 'user', content: 'a' },
        { role: 'user', content: 'a' },
      ],
    ],
  ])('differs for %j and %j', (one, other) => {
    expect(normalizePrompt(one)).not.toBe(normalizePrompt(other))
  })
})
