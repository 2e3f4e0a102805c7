import { afterEach, expect, it, vi } from 'vitest'
import { collectThreadAtRest } from '../../src/store/sqlite/db/thread-at-rest.ts'

const LOOK_MS = 5000
const MB = 1024 * 1024

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
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
  collectThreadAtRest(collect, () => bytes)
  bytes = grownBytes
  vi.advanceTimersByTime(10 * LOOK_MS)
  expect(collect).toHaveBeenCalledTimes(expected)
})
