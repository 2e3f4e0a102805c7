import { describe, expect, it } from 'vitest'
import { createCautiousClock } from '../../src/retention/cautious-clock.ts'

const HOUR = 3_600_000
const YEAR = 365 * 24 * HOUR

function clockAt(startMs: number) {
  let [wall, steady] = [startMs, 1000]
  const doubts: number[] = []
  const now = createCautiousClock({
    wallMs: () => wall,
    steadyMs: () => steady,
    onDoubt: (aheadMs) => doubts.push(aheadMs),
  })
  return {
    doubts,
    nowMs: () => now() / 1000,
    pass(ms: number) {
      wall += ms
      steady += ms
    },
    set(ms: number) {
      wall += ms
    },
  }
}

describe('the clock that calls expire by', () => {
  it('goes with the wall clock, also where that is set back or a little ahead', () => {
    const clock = clockAt(YEAR)
    clock.pass(5 * HOUR)
    expect(clock.nowMs()).toBe(YEAR + 5 * HOUR)
    clock.set(-3 * HOUR)
    expect(clock.nowMs()).toBe(YEAR + 2 * HOUR)
    clock.set(HOUR)
    expect(clock.nowMs()).toBe(YEAR + 3 * HOUR)
    expect(clock.doubts).toEqual([])
  })

  it('is unaffected when the wall clock is set far ahead for a moment', () => {
    const clock = clockAt(YEAR)
    clock.set(5 * YEAR)
    expect(clock.nowMs()).toBe(YEAR)
    clock.pass(HOUR / 2)
    expect(clock.nowMs()).toBe(YEAR + HOUR / 2)
    clock.set(-5 * YEAR)
    clock.pass(HOUR)
    expect(clock.nowMs()).toBe(YEAR + 1.5 * HOUR)
    expect(clock.doubts).toEqual([5 * YEAR])
  })

  it('believes a clock that is ahead for an hour, and starts over when it is set again', () => {
    const clock = clockAt(YEAR)
    clock.set(10 * HOUR)
    clock.nowMs()
    clock.pass(0.9 * HOUR)
    clock.set(YEAR)
    expect(clock.nowMs()).toBe(YEAR + 0.9 * HOUR)
    clock.pass(0.9 * HOUR)
    expect(clock.nowMs()).toBe(YEAR + 1.8 * HOUR)
    clock.pass(0.1 * HOUR)
    expect(clock.nowMs()).toBe(2 * YEAR + 11.9 * HOUR)
    expect(clock.doubts).toEqual([10 * HOUR, YEAR + 10 * HOUR])
  })
})
