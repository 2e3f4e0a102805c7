import { describe, expect, it } from 'vitest'
import { parseQuery } from '../../src/domain/query/query-expression.ts'
import { createMatcher } from '../../src/domain/query/query-matcher.ts'
import { orderForSort, timeValue, valueAt } from '../../src/domain/query/query-values.ts'
import { parseTimestampUs } from '../../src/schemas/timestamp.ts'

const FIELDS = new Set([
  'inputs',
  'output',
  'op_name',
  'started_at',
  'exception',
  'flag',
  'summary',
])
const ROW = {
  inputs: {
    n: 5,
    half: 2.5,
    s: 'Text',
    none: null,
    list: [{ v: 1 }, 'x'],
    o: { a: 1 },
    num: '12',
    yes: true,
    no: false,
    'a.b': 'dotted',
  },
  summary: { weave: { latency_ms: 5 } },
  op_name: 'predict',
  exception: null,
  flag: true,
  started_at: timeValue(parseTimestampUs('2026-01-01T00:00:10.5Z')),
}

const field = (name: string) => ({ $getField: name })
const literal = (value: unknown) => ({ $literal: value })
const convert = (input: unknown, to: string) => ({ $convert: { input, to } })

function holds(expr: unknown): boolean {
  const parsed = parseQuery({ $expr: expr }, { fields: FIELDS })
  return createMatcher(parsed)(([first = '', ...rest]) =>
    valueAt((ROW as Record<string, unknown>)[first], rest),
  )
}

describe('an expression', () => {
  const rows: [unknown, boolean][] = [
    [{ $eq: [field('inputs.n'), literal(5)] }, true],
    [{ $eq: [{ $size: field('inputs.list') }, literal(2)] }, true],
    [{ $gt: [{ $size: [field('inputs.list')] }, literal(2)] }, false],
    [{ $eq: [{ $size: field('inputs.o') }, literal(1)] }, true],
    [{ $eq: [{ $size: literal([]) }, literal(0)] }, true],
    [{ $eq: [{ $size: field('inputs.s') }, literal(null)] }, true],
    [{ $eq: [{ $size: field('inputs.missing') }, literal(null)] }, true],
    [{ $eq: [{ $size: field('started_at') }, literal(null)] }, true],
    // A literal text beside JSON: the service of weave 0.54 compares all of JSON as text.
    [{ $eq: [field('inputs.yes'), literal('true')] }, true],
    [{ $eq: [field('inputs.yes'), literal('false')] }, false],
    [{ $eq: [field('inputs.yes'), literal('True')] }, false],
    [{ $eq: [field('inputs.no'), literal('false')] }, true],
    [{ $eq: [literal('true'), field('inputs.yes')] }, true],
    [{ $not: [{ $eq: [field('inputs.yes'), literal('true')] }] }, false],
    [{ $in: [field('inputs.yes'), [literal('x'), literal('true')]] }, true],
    [{ $in: [field('inputs.n'), [literal('4'), literal('5')]] }, true],
    [{ $gt: [field('inputs.yes'), literal('false')] }, true],
    [{ $gt: [field('inputs.n'), literal('4')] }, true],
    [{ $lt: [field('inputs.n'), literal('4')] }, false],
    [{ $eq: [field('inputs.n'), literal('5')] }, true],
    [{ $eq: [field('inputs.half'), literal('2.5')] }, true],
    [{ $eq: [field('inputs.n'), literal('5.0')] }, false],
    [{ $eq: [field('inputs.none'), literal('null')] }, false],
    [{ $eq: [field('inputs.missing'), literal('')] }, false],
    [{ $eq: [field('inputs.o'), literal('{"a":1}')] }, false],
    [{ $eq: [field('inputs.num'), literal(12)] }, false],
    [{ $gt: [field('inputs.s'), literal(4)] }, false],
    [{ $eq: [field('flag'), literal('true')] }, false],
    [{ $gt: [field('summary.weave.latency_ms'), literal('10')] }, false],
    [{ $eq: [field('inputs.none'), literal(null)] }, true],
    [{ $eq: [field('inputs.missing'), literal(null)] }, true],
    [{ $eq: [field('exception'), literal(null)] }, true],
    [{ $eq: [field('inputs.o'), literal({ a: 1 })] }, true],
    [{ $eq: [field('inputs.o'), literal({ a: 2 })] }, false],
    [{ $eq: [field('inputs.list'), literal([{ v: 1 }, 'x'])] }, true],
    [{ $eq: [field('inputs.list.0.v'), literal(1)] }, true],
    [{ $eq: [field('inputs.list.length'), literal(null)] }, true],
    [{ $eq: [field('inputs.s.length'), literal(4)] }, false],
    [{ $eq: [field('inputs.constructor'), literal(null)] }, true],
    [{ $eq: [field('flag'), literal(true)] }, true],
    [{ $gt: [field('inputs.n'), literal(4)] }, true],
    [{ $gt: [field('inputs.n'), literal(5)] }, false],
    [{ $gte: [field('inputs.n'), literal(5)] }, true],
    [{ $lt: [field('inputs.half'), literal(2.6)] }, true],
    [{ $lte: [field('inputs.half'), literal(2.5)] }, true],
    [{ $lt: [literal(1), field('inputs.n')] }, true],
    [{ $gt: [field('inputs.s'), literal('Te')] }, true],
    [{ $gt: [field('inputs.s'), literal(1)] }, false],
    [{ $lte: [field('inputs.s'), literal(1)] }, false],
    [{ $gt: [field('inputs.missing'), literal(0)] }, false],
    [{ $not: [{ $gt: [field('inputs.missing'), literal(0)] }] }, false],
    [{ $not: [{ $not: [{ $gt: [field('inputs.missing'), literal(0)] }] }] }, false],
    [{ $not: [{ $gt: [field('inputs.s'), literal(1)] }] }, false],
    [{ $not: [{ $gt: [convert(field('inputs.s'), 'double'), literal(1)] }] }, false],
    [{ $not: [{ $eq: [field('inputs.missing'), literal(5)] }] }, false],
    [{ $not: [{ $eq: [field('inputs.missing'), literal(null)] }] }, false],
    [{ $not: [{ $eq: [field('inputs.n'), literal(null)] }] }, true],
    [{ $eq: [literal(null), field('inputs.missing')] }, true],
    [{ $eq: [field('exception'), field('inputs.missing')] }, false],
    [{ $not: [{ $and: [{ $gt: [field('inputs.missing'), literal(0)] }, literal(false)] }] }, true],
    [{ $not: [{ $and: [{ $gt: [field('inputs.missing'), literal(0)] }, literal(true)] }] }, false],
    [{ $or: [{ $gt: [field('inputs.missing'), literal(0)] }, literal(true)] }, true],
    [{ $not: [{ $in: [field('op_name'), [literal('x'), literal(null)]] }] }, false],
    [{ $not: [{ $in: [field('inputs.missing'), []] }] }, true],
    [{ $not: [{ $contains: { input: field('inputs.missing'), substr: literal('x') } }] }, false],
    [{ $eq: [field('inputs.a\\.b'), literal('dotted')] }, true],
    [{ $not: [{ $eq: [field('inputs.n'), literal(5)] }] }, false],
    [{ $and: [] }, true],
    [{ $or: [] }, false],
    [{ $and: [field('flag'), { $eq: [literal(1), literal(1)] }] }, true],
    [{ $and: [field('inputs.n')] }, false],
    [{ $or: [field('inputs.n'), field('flag')] }, true],
    [{ $in: [field('op_name'), [literal('x'), literal('predict')]] }, true],
    [{ $in: [field('op_name'), []] }, false],
    [{ $in: [field('inputs.missing'), [literal(null)]] }, false],
    [{ $contains: { input: field('inputs.s'), substr: literal('ex') } }, true],
    [{ $contains: { input: field('inputs.s'), substr: literal('EX') } }, false],
    [
      { $contains: { input: field('inputs.s'), substr: literal('EX'), case_insensitive: true } },
      true,
    ],
    [
      { $contains: { input: field('inputs.s'), substr: literal('ex'), case_insensitive: null } },
      true,
    ],
    [{ $contains: { input: field('inputs.list'), substr: literal('"v":1') } }, true],
    [{ $contains: { input: field('inputs.missing'), substr: literal('') } }, true],
    [{ $contains: { input: field('inputs.s'), substr: literal(1) } }, false],
    [{ $contains: { input: field('started_at'), substr: literal('2026-01-01T') } }, true],
    [{ $eq: [convert(field('inputs.num'), 'double'), literal(12)] }, true],
    [{ $eq: [convert(field('inputs.s'), 'double'), literal(null)] }, true],
    [{ $eq: [convert(field('inputs.half'), 'int'), literal(2)] }, true],
    [{ $eq: [convert(literal(-2.5), 'int'), literal(-2)] }, true],
    [{ $eq: [convert(field('inputs.n'), 'string'), literal('5')] }, true],
    [{ $eq: [convert(field('inputs.o'), 'string'), literal('{"a":1}')] }, true],
    [{ $eq: [convert(field('flag'), 'int'), literal(1)] }, true],
    [{ $eq: [convert(literal('true'), 'bool'), literal(true)] }, true],
    [{ $eq: [convert(literal('0'), 'bool'), literal(false)] }, true],
    [{ $eq: [convert(literal('maybe'), 'bool'), literal(null)] }, true],
    [{ $eq: [convert(literal(7), 'bool'), literal(true)] }, true],
    [convert(field('inputs.n'), 'exists'), true],
    [convert(field('inputs.none'), 'exists'), false],
    [convert(field('inputs.missing'), 'exists'), false],
    [{ $gt: [field('started_at'), literal('2026-01-01T00:00:10Z')] }, true],
    [{ $gt: [field('started_at'), literal('2026-01-01T01:00:10+01:00')] }, true],
    [{ $gte: [field('started_at'), literal(1767225610.5)] }, true],
    [{ $lt: [field('started_at'), literal(1767225610.5)] }, false],
    [{ $eq: [field('started_at'), literal('2026-01-01T00:00:10.500000Z')] }, true],
    [{ $eq: [field('started_at'), literal('soon')] }, false],
    [{ $eq: [convert(field('started_at'), 'double'), literal(1767225610.5)] }, true],
  ]
  it.each(rows)('%j is %s', (expr, expected) => {
    expect(holds(expr)).toBe(expected)
  })
})

describe('parseQuery', () => {
  const nest = (depth: number): unknown =>
    depth === 0 ? literal(true) : { $not: [nest(depth - 1)] }
  const bad: [string, unknown, string][] = [
    ['nothing', undefined, 'query.$expr'],
    ['null', null, 'query.$expr'],
    ['a list', [], 'query.$expr'],
    ['a text', '$and', 'query.$expr'],
    ['no operation', {}, 'query.$expr'],
    ['two operations', { $and: [], $or: [] }, 'query.$expr'],
    ['an unknown operation', { $regex: [] }, 'query.$expr'],
    ['the name of a method', { constructor: [] }, 'query.$expr'],
    ['an operand that is none', { $and: [5] }, 'query.$expr.$and[0]'],
    ['no list', { $and: {} }, 'query.$expr.$and'],
    ['one operand', { $eq: [literal(1)] }, 'query.$expr.$eq'],
    ['three operands', { $gt: [literal(1), literal(1), literal(1)] }, 'query.$expr.$gt'],
    ['two things denied', { $not: [literal(1), literal(1)] }, 'query.$expr.$not'],
    ['two operands of a size', { $size: [literal(1), literal(1)] }, 'query.$expr.$size'],
    ['no operand of a size', { $size: 'a' }, 'query.$expr.$size'],
    ['no list of candidates', { $in: [literal(1), literal(1)] }, 'query.$expr.$in[1]'],
    ['no substr', { $contains: { input: literal(1) } }, 'query.$expr.$contains.substr'],
    ['more keys', { $contains: { input: 1, substr: 1, x: 1 } }, 'query.$expr.$contains'],
    [
      'a bad switch',
      { $contains: { input: literal(1), substr: literal(1), case_insensitive: 1 } },
      'query.$expr.$contains.case_insensitive',
    ],
    ['an unknown target', convert(literal(1), 'date'), 'query.$expr.$convert.to'],
    ['no object', { $convert: 5 }, 'query.$expr.$convert'],
    ['a field that is no text', { $getField: 5 }, 'query.$expr.$getField'],
    ['an unknown field', { $and: [field('secret.x')] }, 'query.$expr.$and[0].$getField'],
    ['an empty field', field(''), 'query.$expr.$getField'],
    ['33 levels', nest(32), `query.$expr${'.$not[0]'.repeat(32)}`],
    [
      'over 1,000 nodes',
      { $or: Array.from({ length: 1000 }, () => literal(1)) },
      'query.$expr.$or[999]',
    ],
  ]
  it.each(bad)('refuses %s', (_, expr, param) => {
    expect(() => parseQuery({ $expr: expr }, { fields: FIELDS })).toThrow(
      expect.objectContaining({ code: 'query_invalid', param }),
    )
  })

  it('names the operations where there is another or none', () => {
    const told =
      /^query\.\$expr\.\$eq\[0\] must be an object with one of \$literal, \$getField, .*\$lte\.$/
    expect(() => parseQuery({ $expr: { $eq: [1, 2] } }, { fields: FIELDS })).toThrow(told)
  })

  it('takes 32 levels and 1,000 nodes', () => {
    expect(holds(nest(31))).toBe(false)
    expect(holds({ $or: Array.from({ length: 999 }, () => literal(true)) })).toBe(true)
  })
})

describe('orderForSort', () => {
  it('puts numbers, texts, truth values and the rest in this order, what is missing last', () => {
    const values = [null, { a: 1 }, true, 'b', 'a', undefined, 10, 2, false]
    const sorted = values.toSorted((left, right) => orderForSort(left, right, 'asc'))
    expect(sorted.slice(0, 7)).toEqual([2, 10, 'a', 'b', false, true, { a: 1 }])
    const reversed = values.toSorted((left, right) => orderForSort(left, right, 'desc'))
    expect(reversed.slice(0, 7)).toEqual([10, 2, 'b', 'a', true, false, { a: 1 }])
  })
})
