import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { resolveCallsSelection } from '../../src/domain/calls/calls-query.ts'
import { parseQuery } from '../../src/domain/query/query-expression.ts'
import { createMatcher } from '../../src/domain/query/query-matcher.ts'
import { timeValue } from '../../src/domain/query/query-values.ts'
import { exactBounds } from '../../src/domain/query/time-bounds.ts'

const START_US = Date.UTC(2026, 0, 31) * 1000
const FIELDS = new Set(['started_at', 'op_name'])

/** Times around START_US as texts, or as seconds, some of them between two microseconds. */
const anyTime = fc
  .integer({ min: -5, max: 5 })
  .chain((offset) =>
    fc.constantFrom<string | number>(
      new Date(START_US / 1000 + offset).toISOString(),
      (START_US + offset * 1000) / 1e6,
      (START_US + offset * 1000 + 0.5) / 1e6,
    ),
  )
const anySide = fc.record({
  op: fc.constantFrom('$lt', '$lte', '$gt', '$gte'),
  time: anyTime,
  isTurned: fc.boolean(),
})

describe('a condition on started_at alone', () => {
  it('holds for exactly the calls of its window', () => {
    const anySides = fc.array(anySide, { minLength: 1, maxLength: 3 })
    fc.assert(
      fc.property(anySides, fc.integer({ min: -6000, max: 6000 }), (sides, offset) => {
        const items = sides.map(({ op, time, isTurned }) => {
          const operands = [{ $getField: 'started_at' }, { $literal: time }]
          return { [op]: isTurned ? operands.reverse() : operands }
        })
        const expression = parseQuery({ $expr: { $and: items } }, { fields: FIELDS })
        const bounds = exactBounds(expression, 'started_at')
        const us = START_US + offset
        const isWithin = bounds !== null && bounds.from <= us && us <= bounds.to
        expect(isWithin).toBe(createMatcher(expression)(() => timeValue(us)))
      }),
    )
  })

  it.each([
    [
      'of more than that',
      {
        $and: [
          { $lt: [{ $getField: 'started_at' }, { $literal: 5 }] },
          { $eq: [{ $getField: 'op_name' }, { $literal: 'a' }] },
        ],
      },
    ],
    ['of no time', { $lt: [{ $getField: 'started_at' }, { $literal: 'soon' }] }],
    ['of another field', { $lt: [{ $getField: 'op_name' }, { $literal: '2026-01-31T00:00:00Z' }] }],
    ['of either of two', { $or: [{ $lt: [{ $getField: 'started_at' }, { $literal: 5 }] }] }],
  ])('%s stays a condition', (_name, $expr) => {
    const { expression } = resolveCallsSelection({ project_id: 'acme/demo', query: { $expr } })
    expect(expression).not.toBeNull()
  })

  it('leaves no condition on calls', () => {
    const $expr = { $lt: [{ $getField: 'started_at' }, { $literal: '2026-01-31T00:00:00Z' }] }
    const selection = resolveCallsSelection({ project_id: 'acme/demo', query: { $expr } })
    expect(selection).toMatchObject({ expression: null, startedUs: { to: START_US - 1 } })
  })
})
