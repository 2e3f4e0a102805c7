import { expect, it } from 'vitest'
import { createRestWatch } from '../../src/domain/time/rest-watch.ts'

const MB = 1024 * 1024
const START = 200 * MB
const LARGE = 300 * MB
const BUSY = 0.9
const QUIET = 0.01

it.each([
  ['once, at the second quiet look after load', [BUSY, QUIET, QUIET, QUIET, QUIET], LARGE, [2]],
  ['again after more load', [QUIET, QUIET, BUSY, QUIET, QUIET], LARGE, [1, 4]],
  ['not between two requests', [BUSY, QUIET, BUSY, QUIET, BUSY], LARGE, []],
  ['not where the process has not grown', [BUSY, QUIET, QUIET, QUIET], 220 * MB, []],
])('garbage is collected at rest: %s', (_when, utilizations, bytes, expected) => {
  const watch = createRestWatch(START)
  const due = utilizations.flatMap((utilization, look) =>
    watch.isDue({ utilization, bytes }) ? [look] : [],
  )
  expect(due).toEqual(expected)
})

it('garbage is not collected again where a collection left as much', () => {
  const watch = createRestWatch(START)
  const looks = [BUSY, QUIET, QUIET].map((utilization) => ({ utilization, bytes: LARGE }))
  expect(looks.map(watch.isDue)).toEqual([false, false, true])
  watch.noteCollected(LARGE)
  expect(looks.map(watch.isDue)).toEqual([false, false, false])
})
