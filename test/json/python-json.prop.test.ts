import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { eachItem } from '../../src/domain/json/json-members.ts'
import { parseExact } from '../../src/domain/json/json-text.ts'
import {
  compareCodePoints,
  renderPythonNumber,
  toPythonJson,
} from '../../src/domain/json/python-json.ts'
import { digestOfJson } from '../../src/domain/objects/digests.ts'
import { codePoint } from '../support/code-point.ts'

const text = fc.string({ unit: codePoint, maxLength: 8 })
const json = fc.jsonValue({ stringUnit: codePoint, maxDepth: 4 })

/** The same value with the members of every object the other way round. */
function reverseKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reverseKeys)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, inner]) => [key, reverseKeys(inner)])
  return Object.fromEntries(entries.reverse())
}

describe('toPythonJson', () => {
  it('writes ASCII text of the same value', () => {
    fc.assert(
      fc.property(json, (value) => {
        const python = toPythonJson(JSON.stringify(value))
        expect(python).toMatch(/^[ -~]*$/)
        expect(JSON.parse(python)).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })

  it('ignores white space and the order of keys, and is idempotent', () => {
    fc.assert(
      fc.property(json, fc.nat({ max: 3 }), (value, spaces) => {
        const python = toPythonJson(JSON.stringify(value))
        expect(toPythonJson(JSON.stringify(reverseKeys(value), null, spaces))).toBe(python)
        expect(toPythonJson(python)).toBe(python)
      }),
    )
  })

  it('writes every double so that it reads back as itself, with a point or an exponent', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const source = Object.is(value, -0) ? '-0.0' : `${value}e0`.replace(/e([+-]\d+)e0$/, 'e$1')
        const python = renderPythonNumber(source)
        expect(Object.is(Number(python), value)).toBe(true)
        expect(python).toMatch(/^-?\d+(?:\.\d+(?:e[+-]\d\d+)?|e[+-]\d\d+)$/)
      }),
    )
  })
})

it('a list is split into the texts of its items', () => {
  fc.assert(
    fc.property(fc.array(json, { maxLength: 5 }), (list) => {
      const items = [...eachItem(JSON.stringify(list))]
      expect(items).toEqual(list.map((item) => JSON.stringify(item)))
    }),
  )
})

it('orders texts by code points', () => {
  const points = (value: string) => [...value].map((point) => point.codePointAt(0) ?? 0)
  const byPoints = (left: string, right: string) => {
    const [a, b] = [points(left), points(right)]
    const at = a.findIndex((point, index) => point !== b[index])
    if (at === -1) return a.length - b.length
    return at >= b.length ? 1 : (a[at] ?? 0) - (b[at] ?? 0)
  }
  fc.assert(
    fc.property(text, text, text, (start, left, right) => {
      const [a, b] = [start + left, start + right]
      expect(Math.sign(compareCodePoints(a, b))).toBe(Math.sign(byPoints(a, b)))
    }),
  )
})

it('parses so that the digest of what is written again is the same', () => {
  const number = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => toPythonJson(String(value))),
    fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map(String),
    fc.integer().map((value) => `${value}.0`),
    fc.tuple(fc.integer(), fc.integer({ min: -30, max: 30 })).map(([a, b]) => `${a}e${b}`),
  )
  fc.assert(
    fc.property(fc.array(number, { maxLength: 4 }), (numbers) => {
      const source = `{"k":[${numbers.join(',')}]}`
      expect(digestOfJson(JSON.stringify(parseExact(source)))).toBe(digestOfJson(source))
    }),
  )
})
