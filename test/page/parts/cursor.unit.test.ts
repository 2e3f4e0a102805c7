import { describe, expect, it } from 'vitest'
import {
  describeCursor,
  moveCursor,
  newCursor,
  selectedRange,
} from '../../../src/page/parts/charts/cursor.ts'

const TIMES = [10, 20, 30, 40]
const BUCKETS = { times: TIMES, end: 45 }
const LINES = [{ label: 'calls', values: [1, null, 3, 4] }]

describe('the cursor on a chart', () => {
  it('stays within the buckets, and begins at the newest', () => {
    const newest = { at: 40, anchor: 40 }
    expect(newCursor(TIMES)).toEqual(newest)
    expect(newCursor([])).toBeNull()
    expect(moveCursor(TIMES, newest, 'ArrowRight', false)).toEqual(newest)
    expect(moveCursor(TIMES, newest, 'Home', false)).toEqual({ at: 10, anchor: 10 })
    expect(moveCursor(TIMES, newest, 'x', false)).toBeNull()
  })

  it('continues from the first bucket when its own has left the chart', () => {
    const gone = { at: 0, anchor: 0 }
    for (const key of ['ArrowLeft', 'ArrowRight'])
      expect(moveCursor(TIMES, gone, key, false)).toEqual({ at: 10, anchor: 10 })
  })

  it('chooses whole buckets, whichever way it goes', () => {
    const back = moveCursor(TIMES, { at: 30, anchor: 30 }, 'ArrowLeft', true)
    expect(back).toEqual({ at: 20, anchor: 30 })
    expect(selectedRange(BUCKETS, { at: 20, anchor: 30 })).toEqual([20, 40])
    expect(selectedRange(BUCKETS, { at: 40, anchor: 30 })).toEqual([30, 45])
  })

  it('says that a bucket has no value', () => {
    const chart = { ...BUCKETS, lines: LINES, format: String }
    expect(describeCursor(chart, { at: 20, anchor: 20 }, String)).toBe('20: calls none')
  })
})
