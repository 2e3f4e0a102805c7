import { describe, expect, it } from 'vitest'
import { findMarks, mapTexts, textsOf } from '../../../src/inference/tiny/text/prompt-texts.ts'

const refusal = expect.objectContaining({ code: 'invalid_value', param: 'messages' })

describe('the texts that a template gets', () => {
  it('are found and changed at every place, keys too', () => {
    const value = { a: ['b', { c: 1, d: null }], e: 'f' }
    expect(textsOf(value).toSorted()).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
    expect(mapTexts(value, (text) => `${text}!`)).toEqual({
      'a!': ['b!', { 'c!': 1, 'd!': null }],
      'e!': 'f!',
    })
  })

  it('are not looked for at any depth', () => {
    const nest = (levels: number): unknown => (levels === 0 ? 'x' : [nest(levels - 1)])
    expect(textsOf(nest(33))).toEqual(['x'])
    expect(() => textsOf(nest(34))).toThrow(refusal)
  })
})

describe('marks', () => {
  it('are characters that no text has, as long as there are two', () => {
    const all = Array.from({ length: 0xf900 - 0xe000 }, (_, at) =>
      String.fromCodePoint(0xe000 + at),
    )
    expect(findMarks(['plain'])).toEqual(all.slice(0, 2))
    expect(findMarks([all.slice(2).join('')])).toEqual(all.slice(0, 2))
    expect(findMarks(all.slice(0, -2))).toEqual(all.slice(-2))
    expect(() => findMarks(all.slice(1))).toThrow(refusal)
  })
})
