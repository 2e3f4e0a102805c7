import { expect, it } from 'vitest'
import { createRestartPause } from '../../../src/training/worker/restart-pause.ts'

it('the pause before a thread is replaced doubles with each crash, until one has lived for a while', () => {
  let now = 0
  const pause = createRestartPause(() => now)
  const live = (ms: number, isCrash = true) => {
    pause.begin()
    now += ms
    return pause.end(isCrash)
  }
  const crashes = Array.from({ length: 8 }, () => live(10))
  expect(crashes).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000])
  expect([live(60_001), live(10)]).toEqual([1_000, 2_000])
  expect([live(10, false), live(10), live(10)]).toEqual([0, 1_000, 2_000])
})
