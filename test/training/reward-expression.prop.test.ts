/** Rewards against the same arithmetic done by JavaScript. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { evaluateReward, parseReward } from '../../src/domain/training/traffic/reward-expression.ts'

const RULES = { fields: new Set(['payload']), param: 'reward.expression' }

interface Sum {
  readonly json: object
  readonly value: number
}

const leaf: fc.Arbitrary<Sum> = fc
  .double({ min: -100, max: 100, noNaN: true })
  .map((value) => ({ json: { $literal: value }, value }))

const list = (op: string, calculate: (values: number[]) => number, of: fc.Arbitrary<Sum>) =>
  fc.array(of, { minLength: 1, maxLength: 4 }).map((items) => ({
    json: { [op]: items.map(({ json }) => json) },
    value: calculate(items.map(({ value }) => value)),
  }))

const pair = (op: string, calculate: (a: number, b: number) => number, of: fc.Arbitrary<Sum>) =>
  fc
    .tuple(of, of)
    .map(([a, b]) => ({ json: { [op]: [a.json, b.json] }, value: calculate(a.value, b.value) }))

const { sum } = fc.letrec<{ sum: Sum }>((tie) => ({
  sum: fc.oneof(
    { maxDepth: 4 },
    leaf,
    list('$add', (values) => values.reduce((a, b) => a + b, 0), tie('sum')),
    list('$multiply', (values) => values.reduce((a, b) => a * b, 1), tie('sum')),
    list('$min', (values) => Math.min(...values), tie('sum')),
    list('$max', (values) => Math.max(...values), tie('sum')),
    pair('$subtract', (a, b) => a - b, tie('sum')),
    pair('$divide', (a, b) => a / b, tie('sum')),
  ),
}))

describe('reward expressions', () => {
  it('reward expressions compute as JavaScript does; a result that is not finite is no reward', () => {
    fc.assert(
      fc.property(sum, ({ json, value }) => {
        const reward = evaluateReward(parseReward(json, RULES), () => undefined)
        expect(reward).toEqual(Number.isFinite(value) ? value : null)
      }),
    )
  })

  it('reward expressions have no value where a field is missing or not a number', () => {
    const reward = parseReward({ $add: [{ $getField: 'payload.a' }, { $literal: 1 }] }, RULES)
    for (const value of [undefined, null, '1', {}, [1]]) {
      expect(evaluateReward(reward, () => value)).toBeNull()
    }
    expect(evaluateReward(reward, () => true)).toBe(2)
  })

  it('an unknown operation in a reward expression is refused with the known ones', () => {
    expect(() => parseReward({ $foo: 1 }, RULES)).toThrow(
      /one of \$literal, .*, \$add, .*\$cond\.$/,
    )
    // Arithmetic within a condition is not taken, so it is not named there.
    expect(() => parseReward({ $gt: [{ $add: [] }, 1] }, RULES)).toThrow(/\$lte\.$/)
  })

  it('reward expressions are limited in depth', () => {
    let json: object = { $literal: 1 }
    for (let depth = 0; depth < 40; depth++) json = { $add: [json] }
    expect(() => parseReward(json, RULES)).toThrow('deep')
  })
})
