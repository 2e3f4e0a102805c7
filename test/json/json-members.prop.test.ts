/** Finds the text of a member in JSON of any form, with the value that JSON.parse gives. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { splitMembers } from '../../src/domain/json/json-members.ts'

const space = fc.stringMatching(/^[ \t\r\n]{0,3}$/)
const nameText = fc.oneof(
  fc.constantFrom('"wanted"', '"\\u0077anted"', '"wan\\u0074ed"', '"other"', '""', '"__proto__"'),
  fc.string().map((text) => JSON.stringify(text)),
)
const valueText = fc.oneof(
  fc.json(),
  fc.json().map((text) => JSON.stringify(JSON.parse(text), null, 2)),
  fc
    .string({ unit: fc.constantFrom('"', '\\', '{', '}', '[', ']', ',', ':', 'a', ' ') })
    .map((text) => JSON.stringify(text)),
  fc.constantFrom(
    '-1.50e+3',
    '12345678901234567890',
    'null',
    'true',
    '[]',
    '{}',
    '"\\\\"',
    '"\\\\\\""',
  ),
)
const member = fc.tuple(space, nameText, space, space, valueText, space)

describe('splitMembers', () => {
  it('gives the text that stands there, of the last member of the name', () => {
    fc.assert(
      fc.property(fc.array(member, { maxLength: 5 }), space, (members, around) => {
        const inner = members.map(([a, name, b, c, value, d]) => `${a}${name}${b}:${c}${value}${d}`)
        const text = `${around}{${inner.join(',')}${members.length === 0 ? around : ''}}${around}`
        const last = members.findLast(([, name]) => JSON.parse(name) === 'wanted')
        const found = splitMembers(text).get('wanted')
        expect(found).toBe(last?.[4])
        const parsed: { wanted?: unknown } = JSON.parse(text)
        if (found !== undefined) expect(JSON.parse(found)).toEqual(parsed.wanted)
      }),
    )
  })
})
