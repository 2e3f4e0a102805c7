import { describe, expect, it } from 'vitest'
import { createClock } from '../../src/http/clock.ts'

describe('createClock', () => {
  it('gives whole microseconds of the wall clock', () => {
    expect(createClock(() => 1_700_000_000_000)()).toBe(1_700_000_000_000_000)
    expect(createClock(() => 1.2345678)()).toBe(1234)
  })

  it('never gives a time twice', () => {
    const clock = createClock(() => 1000)
    const times = Array.from({ length: 5000 }, clock)
    expect(new Set(times).size).toBe(5000)
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  })

  it('never goes back when the wall clock does, and follows it again afterwards', () => {
    let wallMs = 5000
    const clock = createClock(() => wallMs)
    const first = clock()
    wallMs = 1000
    expect(clock()).toBeGreaterThan(first)
    wallMs = 6000
    expect(clock()).toBe(6_000_000)
  })
})
