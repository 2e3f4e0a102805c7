import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseQuery } from '../../../src/domain/query/query-expression.ts'
import {
  canonicalValue,
  operatorsOf,
  SEARCH_KEYS,
  searchKeyOf,
} from '../../../src/page/calls/search/search-keys.ts'
import { queryOfSearch } from '../../../src/page/calls/search/search-query.ts'
import {
  type Condition,
  parseSearch,
  printSearch,
} from '../../../src/page/calls/search/search-text.ts'

const FIELDS = new Set([
  ...['id', 'op_name', 'display_name', 'trace_id', 'thread_id', 'exception', 'feedback'],
  ...['svc_username', 'end_user_id', 'attributes', 'inputs', 'output', 'summary'],
])

const texts = fc.oneof(
  fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' }),
  fc.constantFrom(
    'a b',
    '-x',
    'x:y',
    '"',
    '\\',
    'a"b',
    ',',
    'a,b',
    'key>1',
    '*',
    '\n',
    'é',
    '=',
    '-',
  ),
)
const names = fc.oneof(
  fc.constantFrom(...SEARCH_KEYS.map(({ name }) => name)),
  fc.constantFrom('inputs.question', 'summary.usage', 'attributes.A.b_1'),
)

const conditions = names.chain((name) => {
  const key = searchKeyOf(name)!
  const [values, isNumber] = {
    choice: [fc.constantFrom(...Object.keys(key.choices ?? { none: '' })), false] as const,
    duration: [fc.double({ min: 0, max: 1e9, noNaN: true }).map(String), true] as const,
    money: [fc.double({ min: 0, max: 1e9, noNaN: true }).map(String), true] as const,
    count: [fc.double({ min: 0, max: 1e9, noNaN: true }).map(String), true] as const,
    part: [texts, false] as const,
    whole: [texts, false] as const,
  }[key.kind]
  return fc.constantFrom(...operatorsOf(key)).chain((operator) => {
    const isOrder = isNumber || (operator !== ':' && operator !== '=')
    const value =
      isOrder && !isNumber
        ? fc.double({ noNaN: true, noDefaultInfinity: true }).map(String)
        : values
    const list = fc.array(value, { minLength: 1, maxLength: isOrder ? 1 : 3 })
    return fc.record({ list, isNot: fc.boolean() }).map(({ list, isNot }): Condition => {
      const canonical = list.map((text) => canonicalValue(key, operator, text)!)
      return { key: name, operator, values: [...new Set(canonical)], isNot: isNot && !key.isSingle }
    })
  })
})

const searches = fc
  .array(conditions, { maxLength: 6 })
  .map((all) =>
    all.filter(({ key }, at) => key !== 'ref' || all.findIndex((one) => one.key === key) === at),
  )

it('reads every search that it prints as the same conditions', () => {
  fc.assert(
    fc.property(searches, (search) => {
      expect(parseSearch(printSearch(search))).toEqual({ conditions: search, problems: [] })
    }),
    { numRuns: 1000 },
  )
})

it('reads any text, and prints what it read in one way', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const { conditions } = parseSearch(text)
      expect(parseSearch(printSearch(conditions))).toEqual({ conditions, problems: [] })
    }),
    { numRuns: 1000 },
  )
})

it('makes of every search a query that the server takes', () => {
  fc.assert(
    fc.property(searches, (search) => {
      const { conditions } = queryOfSearch(search)
      for (const $expr of conditions) parseQuery({ $expr }, { fields: FIELDS })
    }),
  )
})
