import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { editMembers, findMember } from '../../../src/inference/openai/request.ts'
import { codePoint } from '../../support/code-point.ts'

const setModel = (text: string) => editMembers(text, { set: new Map([['model', '"new"']]) })

describe('editMembers', () => {
  it('changes nothing but what is set', () => {
    const body = '{ "seed":9223372036854775807,\n "model" : "m" ,"x":1.0}'
    expect(setModel(body)).toBe('{ "seed":9223372036854775807,\n "model" : "new" ,"x":1.0}')
  })

  it('leaves the text alone without edits', () => {
    const body = ' { "seed" : 9223372036854775807 } '
    expect(editMembers(body, {})).toBe(body)
  })

  it.each([
    ['a nested key of that name', '{"a":{"model":"x"},"b":[{"model":"y"}],"model":"m"}'],
    ['text that looks like the key', '{"a":"\\"model\\":\\"x\\"","model":"m"}'],
    ['a value equal to the key', '{"a":"model","b":["model"],"model":"m"}'],
    ['an escaped key', '{"mod\\u0065l":"m"}'],
    ['a value with escapes', '{"model":"a\\"b\\\\","z":1}'],
    ['an object as the value', '{"z":1,"model":{"a":[1,"}"]} }'],
    ['a key that comes twice, last one counts', '{"model":{"x":1},"model":"m"}'],
    ['null as the last member', '{"a":1,"model":null}'],
    ['no such member', '{"a":1}'],
    ['an empty object', '{ }'],
  ])('sets over %s', (_name, text) => {
    expect(JSON.parse(setModel(text))).toEqual({ ...JSON.parse(text), model: 'new' })
  })

  it.each([
    ['the first', '{ "x":1 , "a":2}', '{ "a":2}'],
    ['the last', '{"a":2 , "x":1 }', '{"a":2 }'],
    ['the middle', '{"a":1, "x":{"a":1} , "b":2}', '{"a":1,"b":2}'],
    ['all of one name', '{"x":1,"a":1,"x":2}', '{"a":1}'],
    ['the only one', '{ "x":1 }', '{  }'],
  ])('removes %s', (_name, text, expected) => {
    expect(editMembers(text, { remove: new Set(['x']) })).toBe(expected)
  })

  it('renames, sets and removes in one pass', () => {
    const edits = {
      set: new Map([['a', '7']]),
      rename: new Map([['b', 'c']]),
      remove: new Set(['x']),
    }
    expect(editMembers('{"x":0,"b":[1.0],"d":1.50}', edits)).toBe('{"a":7,"c":[1.0],"d":1.50}')
  })

  it('sets the member and keeps all others in any object', () => {
    const value = fc.oneof(fc.string({ unit: codePoint }), fc.constant(null), fc.jsonValue())
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        value,
        fc.nat(2),
        (rest, model, indent) => {
          const text = JSON.stringify({ ...rest, model }, null, indent)
          expect(setModel(text)).toBe(JSON.stringify({ ...rest, model: 'new' }, null, indent))
        },
      ),
      { numRuns: 40 },
    )
  })

  it('removes any members and leaves a valid object of the others', () => {
    const names = fc.constantFrom('a', 'b', 'c', 'd')
    fc.assert(
      fc.property(
        fc.dictionary(names, fc.jsonValue()),
        fc.array(names),
        fc.nat(2),
        (object, gone, indent) => {
          const text = JSON.stringify(object, null, indent)
          const left = Object.entries(JSON.parse(text)).filter(
            ([name]) => !new Set<string>(gone).has(name),
          )
          expect(JSON.parse(editMembers(text, { remove: new Set(gone) }))).toEqual(
            Object.fromEntries(left),
          )
        },
      ),
      { numRuns: 40 },
    )
  })
})

describe('findMember', () => {
  it.each([
    ['{"a":1,"a": 9223372036854775807 }', '9223372036854775807'],
    ['{"b":{"a":1}}', undefined],
    ['{"a":{"b":[1]}}', '{"b":[1]}'],
  ])('reads %s', (text, expected) => {
    expect(findMember(text, 'a')).toBe(expected)
  })
})
