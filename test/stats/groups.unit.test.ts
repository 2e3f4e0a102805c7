import { describe, expect, it } from 'vitest'
import { layerPrices } from '../../src/domain/prices/project-prices.ts'
import { errorType } from '../../src/domain/stats/groups.ts'
import { StatsGroupBy } from '../../src/schemas/stats/stats-groups.ts'
import { createGroupTables } from '../../src/store/base/stats/group-tables.ts'

describe('errorType', () => {
  it.each([
    ['ValueError', 'ValueError'],
    ['ValueError: no 7', 'ValueError'],
    ['openai.RateLimitError: slow down: 4 s', 'openai.RateLimitError'],
    ['Traceback (most recent call last):\n  File "a.py", line 1\nKeyError: \'a\'\n', 'KeyError'],
    ['TypeError: x is not a function\n    at a.js:1:1', 'TypeError'],
    ['HTTP 500: upstream', 'HTTP 500: upstream'],
    ['connection lost\nwhile reading', 'connection lost'],
    ['', ''],
    ['x y'.repeat(100), 'x y'.repeat(40)],
  ])('%j is of type %j', (exception, type) => {
    expect(errorType(exception)).toBe(type)
  })
})

describe('createGroupTables', () => {
  const groupBy = StatsGroupBy.parse({ field: 'op_name', search: 'op' })
  const createTables = () =>
    createGroupTables({ groupBy, callColumns: [], usageColumns: [], prices: layerPrices([]) })

  it('refuses more than 100,000 groups, of those that the search matches', () => {
    const tables = createTables()
    for (let group = 0; group < 100_000; group++) tables.indexOf(`op-${group}`)
    expect(tables.indexOf('another')).toBe(-1)
    expect(tables.indexOf('op-7')).toBe(7)
    expect(() => tables.indexOf('op-new')).toThrow('more than 100000 groups')
  })

  it('leaves out groups of which no call is left', () => {
    const tables = createTables()
    tables.indexOf('op-1')
    tables.addCall(tables.indexOf('op-2'), 0, null, false)
    const { groups, others } = tables.finish()
    expect([groups.map(({ group }) => group), others]).toEqual([['op-2'], null])
  })
})
