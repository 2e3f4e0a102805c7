import { describe, expect, it } from 'vitest'
import { exceedsContainers, exceedsDepth } from '../../src/domain/json/json-depth.ts'

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

it.each([
  ['as many lists as it may', `[${Array(9).fill('[]').join()}]`, false],
  ['one list more', `[${Array(10).fill('[]').join()}]`, true],
  ['lists and objects, one more than it may', `[${Array(10).fill('{}').join()}]`, true],
  ['many numbers', JSON.stringify(Array(100).fill(1)), false],
])('tells a text that holds %s', (_name, text, isTooMuch) => {
  expect(exceedsContainers(text, 10)).toBe(isTooMuch)
})
