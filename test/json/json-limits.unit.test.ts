import { describe, expect, it } from 'vitest'
import { exceedsDepth, requireParsable } from '../../src/domain/json/json-limits.ts'

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

const limits = { partsMax: 10, valuesMax: 20 }
const members = (count: number) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, index) => [index, 1])))

it.each([
  ['lists', `[${Array(9).fill('[]').join()}]`],
  ['members', members(9)],
  ['numbers', JSON.stringify(Array(20).fill(1))],
  ['signs of all kinds inside a string', JSON.stringify(['{[:,"\\'.repeat(100)])],
])('takes as many %s as it may', (_name, text) => {
  expect(() => requireParsable(text, limits)).not.toThrow()
})

it.each([
  ['list', `[${Array(10).fill('[]').join()}]`, '10 objects, lists and members'],
  ['object', `[${Array(10).fill('{}').join()}]`, '10 objects, lists and members'],
  ['member', members(10), '10 objects, lists and members'],
  ['member of several objects', '[{"a":1,"b":1},{"a":1,"b":1},{"c":1,"d":1,"e":1}]', '10 objects'],
  ['number', JSON.stringify(Array(21).fill(1)), '20 values'],
])('refuses a text with one %s too many', (_name, text, limit) => {
  const message = expect.stringContaining(`more than ${limit}`)
  expect(() => requireParsable(text, limits)).toThrow(
    expect.objectContaining({ code: 'request_too_large', message }),
  )
})
