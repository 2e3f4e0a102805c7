/** Cuts hours into parts by the buckets of a window. Pure. */
import type { HourParts } from '../../../base/stats/sums.ts'
import { HOUR_US, SLOT_US, SLOTS } from './hour-columns.ts'

const WHOLE = new Int16Array(SLOTS)

/** Returns the first and last hour of a window. */
export function hoursOf(startUs: number, endUs: number): { from: number; to: number } {
  return { from: Math.floor(startUs / HOUR_US), to: Math.ceil(endUs / HOUR_US) - 1 }
}

/** Returns a function that cuts hours; call it with ascending hours. */
export function createHourCutter(startsUs: Float64Array, startUs: number, endUs: number) {
  let bucket = 0

  return function cut(hour: number): HourParts {
    const hourUs = hour * HOUR_US
    const fromUs = Math.max(hourUs, startUs)
    const toUs = Math.min(hourUs + HOUR_US, endUs)
    while ((startsUs[bucket + 1] ?? Number.POSITIVE_INFINITY) <= fromUs) bucket += 1
    const bounds = [fromUs - hourUs]
    for (let next = bucket + 1; (startsUs[next] ?? Number.POSITIVE_INFINITY) < toUs; next++) {
      bounds.push((startsUs[next] as number) - hourUs)
    }
    bounds.push(toUs - hourUs)
    return { hourUs, firstBucket: bucket, bounds }
  }
}

export function isWhole({ bounds }: HourParts): boolean {
  return bounds.length === 2 && bounds[0] === 0 && bounds[1] === HOUR_US
}

/** Returns the part of each slot, -1 for none; null when a cut is inside a slot. */
export function slotParts(parts: HourParts): Int16Array | null {
  if (isWhole(parts)) return WHOLE
  const { bounds } = parts
  if (bounds.some((bound) => bound % SLOT_US !== 0)) return null
  const partOfSlot = new Int16Array(SLOTS).fill(-1)
  bounds.slice(0, -1).forEach((bound, part) => {
    partOfSlot.fill(part, bound / SLOT_US, (bounds[part + 1] as number) / SLOT_US)
  })
  return partOfSlot
}

/** Returns the part of each call, -1 for none. */
export function offsetParts({ bounds }: HourParts, offsets: ArrayLike<number>): Int16Array {
  const parts = new Int16Array(offsets.length)
  const last = bounds.length - 1
  for (let call = 0; call < offsets.length; call++) {
    const offset = offsets[call] as number
    let [low, high] = [-1, last]
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if (offset < (bounds[middle] as number)) high = middle
      else low = middle
    }
    parts[call] = offset < (bounds[last] as number) ? low : -1
  }
  return parts
}
