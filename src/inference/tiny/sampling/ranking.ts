/** Ranks tokens by value. Pure. Equal values must be ordered by id, so that runs are reproducible. */

/** The largest value of 32 bits; with an id below IDS_MAX behind it, a number is still exact. */
const ASCENDING_MAX = 0x7fffffff
/** Ids are below this. */
export const IDS_MAX = 2 ** 21
/** Fewer than this share of the values are picked out one by one, as it costs less than sorting all. */
const PICKED_SHARE = 1 / 8

/**
 * The ids of the largest values, the largest first.
 *
 * @param values - no NaN among them
 * @param count - how many are wanted, 0 or more; there may be fewer
 */
export function rank(values: Float32Array, count = values.length): Uint32Array {
  if (count > values.length * PICKED_SHARE) return sortIds(values).subarray(0, count)
  const picked = new Uint32Array(count)
  let size = 0
  for (let id = 0; id < values.length; id++) {
    const value = values[id] ?? 0
    const isAmong = size < count || value > (values[picked[size - 1] ?? 0] ?? 0)
    if (count === 0 || !isAmong) continue
    if (size < count) size++
    let place = size - 1
    for (; place > 0 && value > (values[picked[place - 1] ?? 0] ?? 0); place--) {
      picked[place] = picked[place - 1] ?? 0
    }
    picked[place] = id
  }
  return picked
}

/** The rank of a token, from 0. */
export function rankOfId(values: Float32Array, id: number): number {
  const own = values[id] ?? 0
  let place = 0
  for (let other = 0; other < values.length; other++) {
    const value = values[other] ?? 0
    if (value > own || (value === own && other < id)) place++
  }
  return place
}

/** All ids in order. Why: one number of value and id sorts much faster than a comparison does. */
function sortIds(values: Float32Array): Uint32Array {
  const sums = new Float32Array(values.length)
  // Added to zero, the two zeros are equal.
  for (let id = 0; id < values.length; id++) sums[id] = (values[id] ?? 0) + 0
  const bits = new Int32Array(sums.buffer)
  const keys = new Float64Array(values.length)
  for (let id = 0; id < keys.length; id++) {
    const own = bits[id] ?? 0
    // The bits of floats are in the order of their values, those of negative ones in the reverse.
    const ascending = own < 0 ? own ^ 0x7fffffff : own
    keys[id] = (ASCENDING_MAX - ascending) * IDS_MAX + id
  }
  keys.sort()
  const order = new Uint32Array(keys.length)
  for (let place = 0; place < keys.length; place++) order[place] = (keys[place] ?? 0) % IDS_MAX
  return order
}
