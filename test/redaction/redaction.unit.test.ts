/** What is found in texts and in JSON, and what only looks like it. */
import { describe, expect, it } from 'vitest'
import {
  createRedactor,
  findPatternFault,
  REDACTION_KINDS,
} from '../../src/domain/projects/redaction.ts'

const all = createRedactor({ kinds: REDACTION_KINDS, patterns: [] })
const redact = (text: string) => all.redactText(text, {})

describe('a text', () => {
  it.each([
    ['mail a.b+c@mail.example.org!', 'mail [redacted:email]!'],
    ['<jürgen@müller.example>', '<[redacted:email]>'],
    ['card 4111 1111 1111 1111 now', 'card [redacted:card] now'],
    ['378282246310005', '[redacted:card]'],
    ['5555-5555-5555-4444 and 6011111111111117', '[redacted:card] and [redacted:card]'],
    ['order 12 4111111111111111 7', 'order 12 [redacted:card] 7'],
    ['call +49 (0) 30 1234567 or +1-202-555-0143', 'call [redacted:phone] or [redacted:phone]'],
    ['(202) 555-0143, 202.555.0143', '[redacted:phone], [redacted:phone]'],
    [`key sk-${'a1'.repeat(12)}.`, 'key [redacted:key].'],
    ['AKIAABCDEFGHIJKLMNOP', '[redacted:key]'],
    ['wk_abcdefghijklmnopqrst', '[redacted:key]'],
    ['-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----', '[redacted:key]'],
  ])('has marks in place of what is found: %s', (text, expected) => {
    expect(redact(text)).toBe(expected)
  })

  it.each([
    '4111 1111 1111 1112',
    'at 1795852579670',
    '2026-11-28T07:56:21.287Z',
    '01a22127-b68b-7454-8027-57b58ce78398',
    'user@localhost',
    '10.12.2026',
    'sk-short',
    'weave:///acme/demo/op/name:0123456789abcdef',
    '1234567890123456',
  ])('stays as it is: %s', (text) => {
    expect(redact(text)).toBe(text)
  })

  it('of 16 MiB of digits does not exhaust the stack', () => {
    const cards = createRedactor({ kinds: ['card'], patterns: [] })
    const digits = '7'.repeat(16 * 1024 * 1024)
    const redacted = cards.redactText(`${digits} 4111 1111 1111 1111`, {})
    expect(redacted === `${digits} [redacted:card]`).toBe(true)
  })

  it('is read by the patterns of the project first, in an engine without backtracking', () => {
    const patterns = [
      { name: 'order', pattern: 'ORD-[0-9]+' },
      { name: 'slow', pattern: '(x+x+)+y' },
    ]
    const redactor = createRedactor({ kinds: ['phone'], patterns })
    const counts = {}
    const text = `ORD-12, ORD-202-555-0143 ${'x'.repeat(20_000)}`
    expect(redactor.redactText(text, counts).slice(0, 60)).toBe(
      '[redacted:order], [redacted:order]-555-0143 xxxxxxxxxxxxxxxx',
    )
    expect(counts).toEqual({ order: 2 })
  })

  it.each(['(', 'a*', '(?=a)', '\\1'])('has no pattern such as %s', (pattern) => {
    expect(findPatternFault(pattern)).toEqual(expect.any(String))
  })
})

describe('JSON', () => {
  it('is redacted in its texts, escaped or not, in names of members, and in numbers that are cards', () => {
    const counts = {}
    const json =
      '{"a":"x\\"a@b.org","b\\u0040b.org":[4111111111111111,9007199254740993,1e3],"c":"a\\u0040b.org","d":"\\\\"}'
    expect(all.redactJson(json, counts)).toBe(
      '{"a":"x\\"[redacted:email]","[redacted:email]":["[redacted:card]",9007199254740993,1e3],"c":"[redacted:email]","d":"\\\\"}',
    )
    expect(counts).toEqual({ email: 3, card: 1 })
  })

  it('without a finding stays as it was sent', () => {
    const json = '{ "a" : "\\u0061\\/", "n": 1.50 }'
    expect(all.redactJson(json, {})).toBe(json)
  })
})
