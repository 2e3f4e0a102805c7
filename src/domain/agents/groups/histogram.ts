/** Bins of equal width between two numbers. Pure. */

interface Histogram {
  readonly size: number
  /** The lower edge, inclusive. */
  min(index: number): number
  /** The upper edge: exclusive, in the last bin inclusive. */
  max(index: number): number
  /** @param value - from `low` to `high` */
  indexOf(value: number): number
}

/** A histogram, with one bin for equal bounds. @param high - at least `low` */
export function createHistogram(low: number, high: number, bins: number): Histogram {
  const size = low === high ? 1 : bins
  const width = high - low

  function edge(index: number): number {
    if (index === 0) return low
    if (index === size) return high
    // The difference of two large doubles may be beyond their range.
    if (width === Number.POSITIVE_INFINITY) return low * (1 - index / size) + high * (index / size)
    return low + index * (width / size)
  }

  return {
    size,
    min: edge,
    max: (index) => edge(index + 1),
    indexOf(value) {
      let index = Math.min(size - 1, Math.floor(((value - low) / width) * size) || 0)
      // A quotient may be rounded over an edge.
      while (index > 0 && value < edge(index)) index -= 1
      while (index < size - 1 && value >= edge(index + 1)) index += 1
      return index
    },
  }
}
