import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createJsonBytes, createTimestampBytes, utf8 } from '../../src/domain/json/json-bytes.ts'
import { renderTimestamp } from '../../src/schemas/timestamp.ts'

const number = fc.oneof(
  fc.nat(),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.double({ min: 0, max: 2e6, noNaN: true }),
  fc
    .tuple(fc.maxSafeInteger(), fc.integer({ min: 1, max: 15 }))
    .map(([units, decimals]) => units / 10 ** decimals),
  fc
    .tuple(fc.nat(), fc.integer({ min: 1, max: 15 }))
    .map(([units, decimals]) => units / 10 ** decimals),
  fc.constantFrom(
    0,
    -0,
    9,
    10,
    99,
    100,
    2 ** 31 - 1,
    2 ** 31,
    1e21,
    1e-7,
    1e-6,
    999_999.999_999_999,
    0.999_999_999_9,
  ),
)

function join(pieces: readonly Uint8Array[]): string {
  return Buffer.concat(pieces).toString()
}

describe('createJsonBytes', () => {
  it('writes numbers as JSON.stringify does', () => {
    const property = fc.property(fc.array(number), (numbers) => {
      const json = createJsonBytes()
      json.write(utf8('['))
      numbers.forEach((value, index) => {
        if (index > 0) json.write(utf8(','))
        json.writeNumber(value)
      })
      json.write(utf8(']'))
      expect(join(json.finish())).toBe(JSON.stringify(numbers))
    })
    fc.assert(property)
  })

  it.each([10, 262_143, 262_144, 300_000])('keeps the order of texts of %i bytes', (length) => {
    const json = createJsonBytes()
    for (const letter of ['a', 'b', 'c']) {
      json.write(utf8(letter.repeat(length)))
      json.writeNumber(7)
    }
    const expected = ['a', 'b', 'c'].map((letter) => `${letter.repeat(length)}7`).join('')
    expect(join(json.finish()) === expected).toBe(true)
  })

  it('gives each piece a buffer of its own', () => {
    const json = createJsonBytes()
    for (let times = 0; times < 3; times++) json.write(utf8('x'.repeat(200_000)))
    const pieces = json.finish()
    expect(pieces.map(({ buffer }) => buffer.byteLength)).toEqual([200_000, 200_000, 200_000])
  })
})

describe('createTimestampBytes', () => {
  it('writes times as renderTimestamp does', () => {
    const endUs = Date.UTC(2255, 0, 1) * 1000
    const times = fc.array(fc.integer({ min: Date.UTC(1900, 0, 1) * 1000, max: endUs }))
    const property = fc.property(times, fc.nat(86_400_000_000), (starts, stepUs) => {
      const bytesOf = createTimestampBytes('<', '>')
      for (const us of starts.flatMap((start) => [start, start + stepUs])) {
        expect(Buffer.from(bytesOf(us)).toString()).toBe(`<${renderTimestamp(us)}>`)
      }
    })
    fc.assert(property)
  })
})
