/** Ascending lists of keys, eight bytes each. */

/** Whether an ascending list contains a key. */
export function includesKey(keys: Float64Array, key: number): boolean {
  let from = 0
  let until = keys.length
  while (from < until) {
    const middle = (from + until) >>> 1
    if ((keys[middle] as number) < key) from = middle + 1
    else until = middle
  }
  return keys[from] === key
}
