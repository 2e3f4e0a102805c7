import { describe, expect, it } from 'vitest'
import { exceedsDepth, findExcess } from '../../src/domain/json/json-limits.ts'

const nested = (depth: number) => `${'[{"a":'.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`

describe('exceedsDepth', () => {
  it.each([
    ['as deep as it may be', nested(6), false],
    ['one pair deeper', nested(8), true],
    ['many beside each other', `[${Array(20).fill('[{}]').join()}]`, false],
    ['deep behind many', `[${'[],'.repeat(20)}${nested(6)}]`, true],
    ['only in strings', JSON.stringify(['[{'.repeat(20), '\\"[[[[[[[']), false],
    ['in a string that is not closed', '["[[[[[[[[[[', false],
  ])('tells a text whose brackets are %s', (_name, text, isTooDeep) => {
    expect(exceedsDepth(text, 6)).toBe(isTooDeep)
  })
})

const limits = { containersMax: 10, membersMax: 10, valuesMax: 20 }
const members = (count: number) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, index) => [index, 1])))

it.each([
  ['as many lists as it may', `[${Array(9).fill('[]').join()}]`, null],
  ['one list more', `[${Array(10).fill('[]').join()}]`, 'containersMax'],
  ['lists and objects, one more than it may', `[${Array(10).fill('{}').join()}]`, 'containersMax'],
  ['as many members as it may', members(10), null],
  ['one member more', members(11), 'membersMax'],
  ['members of many objects', `[${Array(5).fill('{"a":1,"b":1}').join()}, {"c":1}]`, 'membersMax'],
  ['as many numbers as it may', JSON.stringify(Array(20).fill(1)), null],
  ['one number more', JSON.stringify(Array(21).fill(1)), 'valuesMax'],
  ['signs of all kinds inside a string', JSON.stringify(['{[:,"\\'.repeat(100)]), null],
])('counts %s', (_name, text, excess) => {
  expect(findExcess(text, limits)).toBe(excess)
})
