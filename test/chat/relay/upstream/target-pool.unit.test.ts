import { describe, expect, it } from 'vitest'
import { createTargetPool } from '../../../../src/inference/openai/upstream/targets.ts'

const NONE = new Set<number>()

function open(...weights: number[]) {
  let now = 0
  const targets = weights.map((weight, index) => ({ value: `u${index + 1}`, weight }))
  const pool = createTargetPool(targets, () => now)
  const take = (tried = NONE) => pool.take(tried)
  return { pool, take, at: (ms: number) => (now = ms) }
}

describe('createTargetPool', () => {
  it('the least busy upstream is taken, and equals in turn', () => {
    const { take } = open(1, 1, 1)
    const uses = [take(), take(), take()]
    expect(uses.map(({ value }) => value)).toEqual(['u1', 'u2', 'u3'])
    uses[1]?.end()
    expect(take().value).toBe('u2')
  })

  it('idle upstreams take turns', () => {
    const { take } = open(1, 1)
    const values = [1, 2, 3, 4].map(() => {
      const use = take()
      use.end()
      return use.value
    })
    expect(values).toEqual(['u1', 'u2', 'u1', 'u2'])
  })

  it('requests are shared by weight', () => {
    const { take } = open(3, 1)
    const values = Array.from({ length: 8 }, () => take().value)
    expect(values.filter((value) => value === 'u1')).toHaveLength(6)
  })

  it('a slot is freed only once, however often it is released', () => {
    const { take } = open(1, 1)
    const first = take()
    first.end()
    first.end()
    expect([take().value, take().value, take().value]).toEqual(['u2', 'u1', 'u2'])
  })

  it('a failing upstream rests, twice as long for each failure in a row', () => {
    const { take, at } = open(1, 1)
    const failFirst = () => {
      const use = take(new Set([2]))
      use.fail()
      use.end()
      return use.value
    }
    expect(failFirst()).toBe('u1')
    at(999)
    expect(take().value).toBe('u2')
    at(1_000)
    expect(failFirst()).toBe('u1')
    at(2_999)
    expect(take().value).toBe('u2')
    at(3_000)
    expect(take().value).toBe('u1')
  })

  it('an upstream rests for at most a minute', () => {
    const { take, at } = open(1, 1)
    const use = take()
    for (let count = 0; count < 40; count++) use.fail()
    use.end()
    at(59_999)
    expect(take().value).toBe('u2')
    at(60_000)
    expect(take().value).toBe('u1')
  })

  it('a success resets the failures of an upstream', () => {
    const { take } = open(1, 1)
    const use = take()
    use.fail()
    use.succeed()
    use.end()
    take()
    expect(take().value).toBe('u1')
  })

  it('an upstream rests as long as its Retry-After says', () => {
    const { take, at, pool } = open(1, 1)
    const first = take()
    first.fail({ restMs: 5_000 })
    first.end()
    at(4_999)
    expect(pool.hasFresh(new Set([2]))).toBe(false)
    at(5_000)
    expect(pool.hasFresh(new Set([2]))).toBe(true)
  })

  it('the upstream with the shortest rest is taken when all rest', () => {
    const { take } = open(1, 1)
    const [first, second] = [take(), take()]
    first?.fail({ restMs: 9_000 })
    second?.fail({ restMs: 4_000 })
    expect(take().value).toBe('u2')
  })

  it('upstreams that the request has tried are skipped, if there is another', () => {
    const { take, pool } = open(1, 1)
    expect(take(new Set([1])).value).toBe('u2')
    expect(take(new Set([1, 2])).value).toBe('u1')
    expect([pool.hasFresh(new Set([1])), pool.hasFresh(new Set([1, 2]))]).toEqual([true, false])
  })
})
