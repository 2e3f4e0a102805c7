import { describe, expect, it } from 'vitest'
import { findMemberText } from '../../src/domain/json-member.ts'

describe('findMemberText', () => {
  it.each([
    ['{"a":1}', '1'],
    ['{"a":1.0e0,"b":2}', '1.0e0'],
    ['\ufeff{ "a" : [ {"a":0} ] , "b":2}', '[ {"a":0} ]'],
    ['{"b":{"a":1},"a":"}"}', '"}"'],
    ['{"b":"\\\\","a":2}', '2'],
    ['{"a":1,"a":2}', '2'],
    ['{"\\u0061":true}', 'true'],
    ['{"b":"\\"a\\":1"}', null],
    ['{"b":{"a":1}}', null],
    ['{}', null],
    ['[{"b":1}]', null],
  ])('finds in %s the text %s', (text, expected) => {
    expect(findMemberText(text, 'a')).toBe(expected)
  })

  it('reads a long run of backslashes in a time that grows with its length', () => {
    const value = JSON.stringify('\\"'.repeat(100_000))
    expect(findMemberText(`{"b":${value},"a":1}`, 'a')).toBe('1')
    const slashes = JSON.stringify('\\'.repeat(200_000))
    expect(findMemberText(`{"b":${slashes},"a":1}`, 'a')).toBe('1')
  })
})
