import { describe, expect, it } from 'vitest'
import { createClock } from '../../src/http/clock.ts'

const DAY_MS = 86_400_000

/** A clock over times that the test sets. */
function openClock() {
  let wallMs = 1_700_000_000_000
  let steadyMs = 5_000
  const clock = createClock(
    () => wallMs,
    () => steadyMs,
  )
  const jumps: number[] = []
  clock.onJump((movedUs) => jumps.push(movedUs))
  return {
    clock,
    jumps,
    /** Lets time pass on both. */
    pass(ms: number) {
      wallMs += ms
      steadyMs += ms
    },
    /** Sets the wall clock. */
    set(ms: number) {
      wallMs += ms
    },
    wallUs: () => wallMs * 1000,
  }
}

describe('createClock', () => {
  it('gives whole microseconds of the wall clock', () => {
    expect(createClock(() => 1_700_000_000_000).nowUs()).toBe(1_700_000_000_000_000)
    expect(createClock(() => 1.2345678).nowUs()).toBe(1234)
  })

  it('never gives a time twice', () => {
    const { clock } = openClock()
    const times = Array.from({ length: 5000 }, clock.nowUs)
    expect(new Set(times).size).toBe(5000)
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  })

  it('does not go back with a wall clock that is corrected a little, and meets it again', () => {
    const { clock, jumps, pass, set, wallUs } = openClock()
    const first = clock.nowUs()
    set(-900)
    expect(clock.nowUs()).toBeGreaterThan(first)
    pass(901)
    expect(clock.nowUs()).toBe(wallUs())
    expect(jumps).toEqual([])
  })

  it('does not stand still at the future when the wall clock goes forward and back by a day', () => {
    const { clock, jumps, pass, set, wallUs } = openClock()
    clock.nowUs()
    set(DAY_MS)
    pass(10)
    expect(clock.nowUs()).toBe(wallUs())
    set(-DAY_MS)
    pass(10)
    expect(clock.nowUs()).toBe(wallUs())
    expect(jumps).toEqual([DAY_MS * 1000, -DAY_MS * 1000])
  })

  it('does not mistake time that passes unobserved for a jump', () => {
    const { clock, jumps, pass, wallUs } = openClock()
    clock.nowUs()
    pass(DAY_MS)
    expect(clock.nowUs()).toBe(wallUs())
    expect(jumps).toEqual([])
  })

  it('reports a jump before it returns a time after it, even if the listener asks for the time', () => {
    const { clock, set } = openClock()
    const seen: number[] = []
    const leave = clock.onJump(() => seen.push(clock.nowUs()))
    set(DAY_MS)
    const after = clock.nowUs()
    expect(seen).toHaveLength(1)
    expect(after).toBeGreaterThan(seen[0] as number)
    leave()
    set(-DAY_MS)
    clock.nowUs()
    expect(seen).toHaveLength(1)
  })
})
