/** Finds and corrects entries of calls that were removed or ceased to be roots later, by the keys of the calls. Pure. */
import type { Integers } from '../../../base/stats/sums.ts'
import { type HourColumns, IS_ENDED, IS_ROOT } from './hour-columns.ts'

/** By key of a call: the number of entries in the newest columns when it was removed. */
type Removed = ReadonlyMap<number, number>

/**
 * Returns the indexes of entries that do not count any more, ascending.
 *
 * @param isEarlier - whether all of these entries existed before any call was removed
 */
export function findRemoved(keys: Integers, removed: Removed, isEarlier: boolean): number[] {
  const places: number[] = []
  if (removed.size === 0) return places
  const [least, most] = rangeOf(Float64Array.from(removed.keys()))
  for (let place = 0; place < keys.length; place++) {
    const key = keys[place] as number
    if (key < least || key > most) continue
    const before = removed.get(key)
    if (before !== undefined && (isEarlier || place < before)) places.push(place)
  }
  return places
}

/** Whether a removed call may have entries in columns with keys in this range. */
export function mayContain([least, most]: readonly [number, number], removed: Removed): boolean {
  for (const key of removed.keys()) if (key >= least && key <= most) return true
  return false
}

/** Returns the least and the greatest key. */
export function rangeOf(keys: ArrayLike<number>): [least: number, most: number] {
  let [least, most] = [2 ** 32, 0]
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as number
    if (key < least) least = key
    if (key > most) most = key
  }
  return [least, most]
}

/** Returns those of these indexes whose entries are of roots. */
export function ofRoots({ flags }: HourColumns, places: readonly number[]): readonly number[] {
  if (places.length === 0) return places
  const all = flags()
  return places.filter((place) => ((all[place] as number) & IS_ROOT) !== 0)
}

/** Returns the columns with the entries at these indexes as those of calls that are no roots. */
export function withoutRoots(columns: HourColumns, places: readonly number[]): HourColumns {
  if (places.length === 0) return columns
  const flags = Uint8Array.from(columns.flags())
  for (const place of places) flags[place] = (flags[place] as number) & ~IS_ROOT
  return { ...columns, flags: () => flags }
}

/** Returns the columns without the entries at these indexes. */
export function withoutEntries(columns: HourColumns, places: readonly number[]): HourColumns {
  if (places.length === 0) return columns
  const slotOf = new Int32Array(columns.count)
  for (const place of places) slotOf[place] = -1
  let count = 0
  for (let place = 0; place < slotOf.length; place++) {
    if (slotOf[place] === -1) continue
    slotOf[place] = count
    count += 1
  }
  const isLeft = (_: number, place: number) => slotOf[place] !== -1
  const pick = <Column extends Integers>(values: Column) => values.filter(isLeft) as Column
  const flags = pick(columns.flags())
  return {
    count,
    isSorted: columns.isSorted,
    ended: flags.reduce((ended, flag) => ended + ((flag & IS_ENDED) === 0 ? 0 : 1), 0),
    keys: () => pick(columns.keys()),
    latencies: () => pick(columns.latencies()),
    flags: () => flags,
    offsets: () => pick(columns.offsets()),
    slots: () => pick(columns.slots()),
    names(column) {
      const { names, ids } = columns.names(column)
      return { names, ids: pick(ids) }
    },
    usage() {
      const used = columns.usage()
      const isUsed = (_: number, row: number) => slotOf[used.calls[row] as number] !== -1
      const rows = <Column extends Integers>(values: Column) => values.filter(isUsed) as Column
      const calls = Uint32Array.from(rows(used.calls), (place) => slotOf[place] as number)
      return {
        rows: calls.length,
        calls,
        models: used.models,
        modelIds: rows(used.modelIds),
        counters: used.counters.map(rows),
        counts: rows(used.counts),
      }
    },
  }
}
