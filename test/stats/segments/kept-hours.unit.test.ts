import { describe, expect, it } from 'vitest'
import { createHourCache } from '../../../src/store/sqlite/stats/segments/hour-cache.ts'
import type { HourState } from '../../../src/store/sqlite/stats/segments/live-hours.ts'

const BLOB_BYTES = 10_000
/** Room for three hours of one blob. */
const BYTES_MAX = 3 * 11_500

function stateOf(hour_key: number, generation = 0, built_revision = 1): HourState {
  const hour = { project_id: 'acme/demo', hour: hour_key, pieces: 1, pending: 0 }
  return { hour_key, ...hour, revision: built_revision, generation, built_revision }
}

/** Reads hours as a question does. @returns which were known, and their blobs */
function read(kept: ReturnType<typeof createHourCache>, states: readonly HourState[]) {
  const known: boolean[] = []
  const hours = states.map((state) => {
    const found = kept.find(state)
    known.push(found !== null)
    const hour = found ?? kept.open(state)
    if (!found) kept.addBlob(hour, new Uint8Array(BLOB_BYTES))
    return hour
  })
  const blobs = hours.flatMap((hour) => hour.blobs)
  const isWhole = blobs.every(({ byteLength }) => byteLength === BLOB_BYTES)
  for (const hour of hours) kept.close(hour)
  return { known, blobs, isWhole }
}

describe('the hours that a reader keeps', () => {
  it('are found again as long as the hour is as it was', () => {
    const kept = createHourCache(BYTES_MAX)
    expect(read(kept, [stateOf(1)]).known).toEqual([false])
    expect(read(kept, [stateOf(1)]).known).toEqual([true])
    expect(read(kept, [stateOf(1, 0, 2)]).known).toEqual([false])
    expect(read(kept, [stateOf(1, 1, 2)]).known).toEqual([false])
    expect(read(kept, [stateOf(1, 1, 2), stateOf(2)]).known).toEqual([true, false])
  })

  it('make room for others, those first that were read the longest time ago', () => {
    const kept = createHourCache(BYTES_MAX)
    read(kept, [stateOf(1), stateOf(2), stateOf(3)])
    read(kept, [stateOf(1)])
    const { blobs } = read(kept, [stateOf(2)])
    expect(read(kept, [stateOf(4)]).known).toEqual([false])
    expect(read(kept, [stateOf(1), stateOf(2), stateOf(4)]).known).toEqual([true, true, true])
    expect(read(kept, [stateOf(5), stateOf(6)]).known).toEqual([false, false])
    expect(blobs[0]?.byteLength).toBe(0)
  })

  it('answer a repeated query whose hours do not fit into memory together', () => {
    const kept = createHourCache(BYTES_MAX)
    const states = [1, 2, 3, 4, 5].map((key) => stateOf(key))
    const first = read(kept, states)
    expect(first.isWhole).toBe(true)
    const again = read(kept, states)
    expect(again.known).toEqual([true, true, true, false, false])
    expect(again.isWhole).toBe(true)
    expect(first.blobs.map(({ byteLength }) => byteLength > 0)).toEqual(again.known)
  })

  it('evict nothing that is being read', () => {
    const kept = createHourCache(BYTES_MAX)
    const hour = kept.open(stateOf(1))
    const blob = new Uint8Array(BLOB_BYTES)
    kept.addBlob(hour, blob)
    expect(kept.find(stateOf(1, 1))).toBeNull()
    read(kept, [stateOf(2), stateOf(3), stateOf(4)])
    expect(blob.byteLength).toBe(BLOB_BYTES)
    kept.close(hour)
    expect(blob.byteLength).toBe(0)
  })
})
