import { afterEach, expect, it, vi } from 'vitest'
import { collectWhenIdle, createIdleWatch } from '../../../src/threads/idle-gc.ts'

const LOOK_MS = 5000
const MB = 1024 * 1024
const START = 200 * MB
const LARGE = 300 * MB
const BUSY = 0.9
const QUIET = 0.01

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

it.each([
  ['once, at the second quiet sample after load', [BUSY, QUIET, QUIET, QUIET, QUIET], LARGE, [2]],
  ['again after more load', [QUIET, QUIET, BUSY, QUIET, QUIET], LARGE, [1, 4]],
  ['not between two requests', [BUSY, QUIET, BUSY, QUIET, BUSY], LARGE, []],
  ['not where the process has not grown', [BUSY, QUIET, QUIET, QUIET], 220 * MB, []],
])('garbage is collected at rest: %s', (_when, utilizations, bytes, expected) => {
  const watch = createIdleWatch(START)
  const due = utilizations.flatMap((utilization, sample) =>
    watch.isDue({ utilization, bytes }) ? [sample] : [],
  )
  expect(due).toEqual(expected)
})

it('garbage is not collected again where a collection left as much', () => {
  const watch = createIdleWatch(START)
  const samples = [BUSY, QUIET, QUIET].map((utilization) => ({ utilization, bytes: LARGE }))
  expect(samples.map(watch.isDue)).toEqual([false, false, true])
  watch.noteCollected(LARGE)
  expect(samples.map(watch.isDue)).toEqual([false, false, false])
})

it.each([
  ['collects once where its heap has grown', 60 * MB, 1],
  ['leaves a heap that has not', 20 * MB, 0],
])('a thread at rest %s', (_what, grownBytes, expected) => {
  vi.useFakeTimers({ toFake: ['setInterval'] })
  const quiet = { idle: 1, active: 0, utilization: 0 }
  vi.spyOn(performance, 'eventLoopUtilization').mockReturnValue(quiet)
  const collect = vi.fn()
  let bytes = 20 * MB
  collectWhenIdle(() => bytes, collect)
  bytes = grownBytes
  vi.advanceTimersByTime(10 * LOOK_MS)
  expect(collect).toHaveBeenCalledTimes(expected)
})
