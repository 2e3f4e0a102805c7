/** Derives the time range that an expression allows for a field that holds an instant. Pure. */
import { type Expression, isField } from './query-expression.ts'
import { toTimeUs } from './query-values.ts'

/** Bounds of a time, both inclusive, in microseconds. */
export interface TimeBounds {
  readonly from: number
  readonly to: number
}

/** All of time. */
export const ANY_TIME: TimeBounds = {
  from: Number.MIN_SAFE_INTEGER,
  to: Number.MAX_SAFE_INTEGER,
}

/**
 * Returns the time range that can contain the matching rows, never too small: a time window in a query then reads a
 * window of the index.
 */
export function timeBounds(expression: Expression | null, field: string): TimeBounds {
  if (expression?.op === '$and') {
    return expression.items
      .map((item) => timeBounds(item, field))
      .reduce(
        (left, right) => ({
          from: Math.max(left.from, right.from),
          to: Math.min(left.to, right.to),
        }),
        ANY_TIME,
      )
  }
  if (expression?.op === '$gt' || expression?.op === '$gte') {
    return betweenSides(expression.right, expression.left, field)
  }
  if (expression?.op === '$lt' || expression?.op === '$lte') {
    return betweenSides(expression.left, expression.right, field)
  }
  return ANY_TIME
}

/**
 * Returns the window of an expression that only restricts the field to a range of time; null for any other. A row
 * meets the expression exactly when its field lies in the window.
 */
export function exactBounds(expression: Expression, field: string): TimeBounds | null {
  if (expression.op === '$and') {
    let bounds: TimeBounds = ANY_TIME
    for (const item of expression.items) {
      const inner = exactBounds(item, field)
      if (inner === null) return null
      bounds = { from: Math.max(bounds.from, inner.from), to: Math.min(bounds.to, inner.to) }
    }
    return bounds
  }
  const { op } = expression
  if (op !== '$lt' && op !== '$lte' && op !== '$gt' && op !== '$gte') return null
  const { left, right } = expression
  const isLeft = isField(left, field)
  const us = isLeft ? literalUs(right) : isField(right, field) ? literalUs(left) : null
  if (us === null) return null
  // On the right, the field is compared the other way round.
  const isUpper = op.startsWith('$lt') === isLeft
  const isInclusive = op.endsWith('e')
  if (isUpper) return { ...ANY_TIME, to: isInclusive ? Math.floor(us) : Math.ceil(us) - 1 }
  return { ...ANY_TIME, from: isInclusive ? Math.ceil(us) : Math.floor(us) + 1 }
}

/** Returns the bounds of a field on one side of `lower <= upper`. */
function betweenSides(lower: Expression, upper: Expression, field: string): TimeBounds {
  if (isField(upper, field)) {
    return { ...ANY_TIME, from: Math.floor(literalUs(lower) ?? ANY_TIME.from) }
  }
  if (isField(lower, field)) {
    return { ...ANY_TIME, to: Math.ceil(literalUs(upper) ?? ANY_TIME.to) }
  }
  return ANY_TIME
}

function literalUs(side: Expression): number | null {
  const us = side.op === '$literal' ? toTimeUs(side.value) : null
  return us === null || !Number.isSafeInteger(Math.trunc(us)) ? null : us
}
