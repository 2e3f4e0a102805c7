import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createUtf8Filters } from '../../../src/inference/tiny/constraints/utf8-filter.ts'
import { CHARACTER_OF_BYTE } from '../../../src/inference/tiny/text/byte-characters.ts'

const spell = (bytes: Iterable<number>) =>
  Array.from(bytes, (byte) => CHARACTER_OF_BYTE[byte]).join('')
const LONGER = ['é', '日本', '😀'].map((text) => Buffer.from(text))
/** Ends of one character with the beginning of the next, and what is never well-formed. */
const ODD = [
  [0x80, 0xe2, 0x82],
  [0x98, 0x80, 0xf0],
  [0xed, 0xa0],
  [0xc0, 0xaf],
].map((bytes) => Buffer.from(bytes))
const TOKENS = [...Array.from({ length: 256 }, (_, byte) => Buffer.of(byte)), ...LONGER, ...ODD]
const EMPTY_ID = TOKENS.length
const createFilter = createUtf8Filters([...TOKENS.map(spell), ''])
const EVERYTHING = new Int32Array(Math.ceil((EMPTY_ID + 1) / 32)).fill(-1)

function isAllowed(mask: Int32Array, id: number): boolean {
  return (((mask[id >> 5] ?? 0) >>> (id & 31)) & 1) === 1
}

/** Whether a decoder that refuses what is ill-formed takes the bytes, of which the last character may be unfinished. */
function isWellFormed(bytes: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
    return true
  } catch {
    return false
  }
}

describe('createUtf8Filters', () => {
  it('leaves the tokens behind which the bytes are well-formed, and those without bytes', () => {
    const property = fc.property(
      fc.array(fc.nat(TOKENS.length - 1), { maxLength: 6 }),
      fc.array(fc.integer({ min: 0x80, max: 0xff }), { maxLength: 4 }),
      (ids, tail) => {
        const filter = createFilter()
        let bytes = Buffer.alloc(0)
        for (const id of [...ids, ...tail]) {
          const mask = filter.filter(EVERYTHING)
          const left = TOKENS.map((_, other) => other).filter((other) => isAllowed(mask, other))
          const expected = TOKENS.flatMap((token, other) =>
            isWellFormed(Buffer.concat([bytes, token])) ? [other] : [],
          )
          expect(left).toEqual(expected)
          expect(isAllowed(mask, EMPTY_ID)).toBe(true)
          if (!left.includes(id)) continue
          filter.accept(id)
          bytes = Buffer.concat([bytes, TOKENS[id] as Buffer])
        }
      },
    )
    fc.assert(property, {
      examples: [
        [[], [0xed, 0xa0]],
        [[], [0xf4, 0x90]],
        [[], [0xe0, 0x80]],
        [[], [0xf0, 0x80]],
      ],
    })
  })

  it('keeps out what the mask leaves out', () => {
    const none = createFilter().filter(new Int32Array(EVERYTHING.length))
    expect([...none].every((bits) => bits === 0)).toBe(true)
  })
})
