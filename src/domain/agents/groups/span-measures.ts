/** Sums, means, counts and percentiles over the values of spans. Pure. */

import { ApiError } from '../../../errors.ts'
import type { AgentAggregation, SpanMeasure } from '../../../schemas/agents/span-values.ts'
import { addToSum, createSum, meanOf, totalOf } from '../../stats/exact-sum.ts'
import { createOrderStatistics, type OrderStatistics } from '../../stats/order-statistics.ts'
import type { ValueType } from '../span-values.ts'

/** Limit: values that one response may buffer, for percentiles and for distinct counts. */
const BUFFERED_VALUES_MAX = 2_000_000

const ALLOWED: Readonly<Record<ValueType, readonly AgentAggregation[]>> = {
  datetime: ['min', 'max', 'count', 'count_distinct'],
  number: ['sum', 'avg', 'min', 'max', 'count', 'count_distinct'],
  boolean: ['count', 'count_distinct', 'count_true', 'count_false'],
  string: ['count', 'count_distinct'],
}

export type Cell = string | number | boolean | null

/** The number of values that one response may still buffer. */
export interface Budget {
  /** @throws ApiError validation_failed when it is spent */
  take(count?: number): void
  /** Takes one for a value, and one more for each 32 characters of it. @throws ApiError validation_failed */
  keep(value: Cell): void
}

export function createBudget(max: number = BUFFERED_VALUES_MAX): Budget {
  let left = max
  function take(count = 1): void {
    left -= count
    if (left >= 0) return
    const message = `The response would keep more than ${max} values: narrow the query or the window.`
    throw new ApiError('validation_failed', { param: 'query', message })
  }
  return {
    take,
    keep: (value) => take(typeof value === 'string' ? 1 + (value.length >> 5) : 1),
  }
}

/** The type of what an aggregation of values yields. @param type - null for spans without a value */
export function typeOfAggregate(name: AgentAggregation, type: ValueType | null): ValueType {
  return type === 'datetime' && !name.startsWith('count') ? 'datetime' : 'number'
}

/** Requires an aggregation that the type has. @throws ApiError validation_failed */
export function requireAggregation(type: ValueType, name: AgentAggregation, param: string): void {
  if (ALLOWED[type].includes(name)) return
  const message = `${param} must be one of ${ALLOWED[type].join(', ')} for values of the type ${type}.`
  throw new ApiError('validation_failed', { param, message })
}

/** Requires a measure to have a value of its type, unless it is a count. @throws ApiError validation_failed */
export function requireMeasure(
  { aggregation, value, value_type }: SpanMeasure,
  type: ValueType | null,
  param: string,
): void {
  if (type !== null) requireAggregation(type, aggregation, `${param}.aggregation`)
  const isTyped = !value_type || !value || value_type === type
  if (isTyped && (value || aggregation === 'count')) return
  const message = isTyped
    ? `${param} must have a value unless it is a count.`
    : `${param}.value_type must be ${type}.`
  throw new ApiError('validation_failed', { param, message })
}

export interface Measure {
  /** Adds a value; null, for a span without the value, is ignored. */
  add(value: Cell): void
  /** The result, null when no value was added; counts and sums are then 0. */
  value(): Cell
}

export function createMeasure(name: AgentAggregation, budget: Budget): Measure {
  switch (name) {
    case 'sum':
    case 'avg':
      return createTotal(name === 'avg')
    case 'min':
    case 'max':
      return createExtreme(name === 'min')
    case 'count_distinct': {
      const seen = new Set<Cell>()
      return {
        add(value) {
          if (value === null || seen.has(value)) return
          budget.keep(value)
          seen.add(value)
        },
        value: () => seen.size,
      }
    }
    default:
      return createCount(name === 'count' ? null : name === 'count_true')
  }
}

/** A percentile of values. @param percent - 0 to 100 */
export function createPercentile(
  percent: number,
  budget: Budget,
  shared: OrderStatistics = createOrderStatistics(),
): Measure {
  let count = 0
  return {
    add(value) {
      if (typeof value !== 'number') return
      budget.take()
      shared.add(value)
      count += 1
    },
    value: () => (count === 0 ? null : shared.percentile(percent)),
  }
}

function createTotal(isMean: boolean): Measure {
  const sum = createSum()
  return {
    add(value) {
      if (typeof value === 'number') addToSum(sum, value)
    },
    value: () => (isMean ? (sum.count === 0 ? null : meanOf(sum)) : totalOf(sum)),
  }
}

function createExtreme(isLeast: boolean): Measure {
  let found: Cell = null
  return {
    add(value) {
      if (value === null) return
      if (found === null || (isLeast ? value < found : value > found)) found = value
    },
    value: () => found,
  }
}

function createCount(wanted: boolean | null): Measure {
  let count = 0
  return {
    add(value) {
      if (value !== null && (wanted === null || value === wanted)) count += 1
    },
    value: () => count,
  }
}
