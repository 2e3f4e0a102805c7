/** Advances through the buckets along with rows that arrive in order of time. Pure. */

interface BucketCursor {
  /** Moves to the bucket of a time. */
  moveTo(us: number): void
  moveToBucket(bucket: number): void
  /** Moves past the last bucket. */
  end(): void
}

/** @param flush - called when the cursor leaves a bucket */
export function createBucketCursor(
  startsUs: Float64Array,
  flush: (bucket: number) => void,
): BucketCursor {
  let bucket = 0
  let nextUs = startsUs[1] ?? Number.POSITIVE_INFINITY

  function moveToBucket(next: number): void {
    if (next === bucket) return
    flush(bucket)
    bucket = next
    nextUs = startsUs[bucket + 1] ?? Number.POSITIVE_INFINITY
  }

  return {
    moveToBucket,
    moveTo(us) {
      let next = bucket
      if (us < nextUs) return
      while (us >= (startsUs[next + 1] ?? Number.POSITIVE_INFINITY)) next += 1
      moveToBucket(next)
    },
    end: () => flush(bucket),
  }
}
