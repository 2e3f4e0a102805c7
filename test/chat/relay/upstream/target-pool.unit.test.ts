import { describe, expect, it } from 'vitest'
import type { LatencyKind } from '../../../../src/inference/backend.ts'
import { createTargetPool } from '../../../../src/inference/openai/upstream/targets.ts'

const NONE = new Set<number>()

function open(...weights: number[]) {
  let now = 0
  const targets = weights.map((weight, index) => ({ value: `u${index + 1}`, weight }))
  const pool = createTargetPool(targets, () => now)
  const take = (tried = NONE) => pool.take(tried, 'whole')
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

describe('createTargetPool with balance latency', () => {
  function openByLatency(...weights: number[]) {
    let now = 0
    const targets = weights.map((weight, index) => ({ value: `u${index + 1}`, weight }))
    const pool = createTargetPool(targets, () => now, 'latency')
    /** One request at the upstream that is chosen, which takes as long as `ms` says of it. */
    function request(ms: Readonly<Record<string, number>>, kind: LatencyKind = 'stream') {
      const use = pool.take(NONE, kind)
      now += ms[use.value] ?? 0
      use.succeed()
      use.end()
      return use.value
    }
    const pass = (ms: number) => (now += ms)
    return { pool, request, pass }
  }

  it('requests go to the fastest upstream, once each has had one', () => {
    const { request } = openByLatency(1, 1, 1)
    const ms = { u1: 300, u2: 100, u3: 200 }
    const values = Array.from({ length: 8 }, () => request(ms))
    expect(values.slice(0, 3).sort()).toEqual(['u1', 'u2', 'u3'])
    expect(new Set(values.slice(3))).toEqual(new Set(['u2']))
  })

  it('requests in flight and weights count beside the latency', () => {
    const { pool, request } = openByLatency(1, 1)
    for (let count = 0; count < 2; count++) request({ u1: 250, u2: 100 })
    const values = Array.from({ length: 7 }, () => pool.take(NONE, 'stream').value)
    expect(values.filter((value) => value === 'u1')).toHaveLength(2)
    const weighted = openByLatency(3, 1)
    for (let count = 0; count < 2; count++) weighted.request({ u1: 250, u2: 100 })
    expect(weighted.request({})).toBe('u1')
  })

  it('before any response, requests go by weight to the least busy upstream', () => {
    const { pool } = openByLatency(3, 1)
    const values = Array.from({ length: 8 }, () => pool.take(NONE, 'stream').value)
    expect(values.filter((value) => value === 'u1')).toHaveLength(6)
  })

  it('a slow upstream is tried again after a while, and is used once it is fast', () => {
    const { request, pass } = openByLatency(1, 1)
    const slow = { u1: 1_000, u2: 100 }
    for (let count = 0; count < 4; count++) request(slow)
    const values: string[] = []
    for (let count = 0; count < 400; count++) {
      pass(1_000)
      values.push(request(count < 200 ? slow : { u1: 20, u2: 100 }))
    }
    const early = values.slice(0, 200).filter((value) => value === 'u1')
    expect(early.length).toBeGreaterThan(0)
    expect(early.length).toBeLessThan(20)
    const late = values.slice(-50).filter((value) => value === 'u2')
    expect(late.length).toBeLessThan(3)
  })

  it('streams and whole responses are measured apart', () => {
    const { pool, request } = openByLatency(1, 1)
    const kinds = ['stream', 'whole'] as const
    for (const kind of kinds)
      for (let count = 0; count < 2; count++) request({ u1: 50, u2: 900 }, kind)
    expect(
      pool.describe().map(({ firstEventMs, responseMs }) => [firstEventMs, responseMs]),
    ).toEqual([
      [50, 50],
      [900, 900],
    ])
    const whole = openByLatency(1, 1)
    for (let count = 0; count < 2; count++) whole.request({ u1: 50, u2: 900 }, 'stream')
    expect(whole.pool.describe('stream').map(({ rank }) => rank)).toEqual([0, 1])
    for (let count = 0; count < 2; count++) whole.request({ u1: 900, u2: 50 }, 'whole')
    expect(whole.pool.describe('whole').map(({ rank }) => rank)).toEqual([1, 0])
    expect(whole.pool.describe('stream').map(({ rank }) => rank)).toEqual([0, 1])
  })

  it('an upstream that fails rests, however fast it was', () => {
    const { pool, request } = openByLatency(1, 1)
    for (let count = 0; count < 2; count++) request({ u1: 10, u2: 900 })
    const use = pool.take(NONE, 'stream')
    expect(use.value).toBe('u1')
    use.fail()
    use.end()
    expect(pool.take(NONE, 'stream').value).toBe('u2')
  })
})
