import { describe, expect, it } from 'vitest'
import { splitMembers } from '../../src/domain/json/json-members.ts'

describe('splitMembers', () => {
  it.each([
    ['{"a":1}', '1'],
    ['{"a":1.0e0,"b":2}', '1.0e0'],
    ['\ufeff{ "a" : [ {"a":0} ] , "b":2}', '[ {"a":0} ]'],
    ['{"b":{"a":1},"a":"}"}', '"}"'],
    ['{"b":"\\\\","a":2}', '2'],
    ['{"a":1,"a":2}', '2'],
    ['{"\\u0061":true}', 'true'],
    ['{"b":"\\"a\\":1"}', undefined],
    ['{"b":{"a":1}}', undefined],
    ['{}', undefined],
    ['[{"b":1}]', undefined],
  ])('finds in %s the text %s', (text, expected) => {
    expect(splitMembers(text).get('a')).toBe(expected)
  })

  it('reads a long run of backslashes in a time that grows with its length', () => {
    const value = JSON.stringify('\\"'.repeat(100_000))
    expect(splitMembers(`{"b":${value},"a":1}`).get('a')).toBe('1')
    const slashes = JSON.stringify('\\'.repeat(200_000))
    expect(splitMembers(`{"b":${slashes},"a":1}`).get('a')).toBe('1')
  })
})
