/** Chance that is the same at each run. */

export interface Chance {
  /** 0 to below 1. */
  next(): number
  /** A whole number, both ends included. */
  between(from: number, to: number): number
  pick<T>(values: readonly [T, ...T[]]): T
  /** Milliseconds of something that mostly takes about so long, and sometimes much longer. */
  latency(usualMs: number): number
}

export function createChance(seed: number): Chance {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    next,
    between: (from, to) => from + Math.floor(next() * (to - from + 1)),
    pick: (values) => values[Math.floor(next() * values.length)] ?? values[0],
    latency: (usualMs) => Math.round(usualMs * (0.6 + 0.5 * next() + 0.6 * next() ** 12 * 8)),
  }
}
