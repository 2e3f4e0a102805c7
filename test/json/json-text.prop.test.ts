import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { parseLossless, renderJson } from '../../src/domain/json/json-text.ts'
import { codePoint } from '../support/code-point.ts'
import { measureHeap } from '../support/heap.ts'

const digits = (max: number) => fc.stringMatching(new RegExp(`^\\d{1,${max}}$`))
const whole = digits(40).map((text) => text.replace(/^0+(?=\d)/, ''))
const exponent = fc
  .tuple(fc.constantFrom('e', 'E'), fc.constantFrom('', '+', '-'), digits(4))
  .map((parts) => parts.join(''))

/** Any number that JSON can write. */
const number = fc
  .tuple(
    fc.constantFrom('', '-'),
    whole,
    fc.option(digits(40), { nil: null }),
    fc.option(exponent, { nil: '' }),
  )
  .map(
    ([sign, int, fraction, exp]) => `${sign}${int}${fraction === null ? '' : `.${fraction}`}${exp}`,
  )

const integer64 = fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }).map(String)

const key = fc.oneof(
  fc.string({ maxLength: 3, unit: codePoint }),
  fc.constantFrom('__proto__', 'constructor', 'toString', 'rawJSON', 'toJSON', ''),
)

const space = fc.stringMatching(/^[ \t\n\r]{0,3}$/)

/** The text of a JSON document: keys are distinct, whole numbers are not in front of other keys. */
const { text } = fc.letrec<{ text: string }>((tie) => ({
  text: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('null', 'true', 'false', '"1e400"', '12345678901234567890'),
    number,
    integer64,
    fc.string({ maxLength: 4 }).map((value) => JSON.stringify(value)),
    fc.array(tie('text'), { maxLength: 4 }).map((items) => `[${items}]`),
    fc
      .uniqueArray(
        fc.tuple(
          key.filter((name) => !/^\d+$/.test(name)),
          tie('text'),
        ),
        { maxLength: 4, selector: ([name]) => name },
      )
      .map((fields) => `{${fields.map(([name, item]) => `${JSON.stringify(name)}:${item}`)}}`),
  ),
}))

/** Value of a decimal, exactly: its sign and digits without zeros at the ends, and the exponent. */
function exact(source: string): string {
  const [, sign, int = '', fraction = '', exp = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source) ?? []
  const all = `${int}${fraction}`.replace(/^0+/, '')
  const kept = all.replace(/0+$/, '')
  if (kept === '') return '0'
  return `${sign}${kept}e${BigInt(exp) - BigInt(fraction.length) + BigInt(all.length - kept.length)}`
}

const NUMBERS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** A document with each number written exactly, so that two spellings of one value are the same. */
function exactNumbers(document: string): string {
  return document.replaceAll(NUMBERS, (token) => (token.startsWith('"') ? token : exact(token)))
}

describe('JSON text', () => {
  it('keeps the value of every number to the last digit', () => {
    fc.assert(
      fc.property(fc.oneof(number, integer64), (source) => {
        expect(exact(renderJson(parseLossless(source)))).toBe(exact(source))
      }),
      {
        numRuns: 3000,
        examples: [
          ['9007199254740993'],
          ['-9223372036854775808'],
          ['18446744073709551615'],
          ['0.1000000000000000055511151231257827'],
          ['0.10000000000000001'],
          ['1e400'],
          ['-1E-400'],
          ['5e-324'],
          ['1e999999999999999999999'],
          ['1.7976931348623157e308'],
          ['123456789012345678e-10'],
          ['1e21'],
          ['123456789012345680000'],
        ],
      },
    )
  })

  it('keeps every document: its keys, their order and the value of its numbers', () => {
    fc.assert(
      fc.property(text, (document) => {
        const again = renderJson(parseLossless(document))
        expect(exactNumbers(again)).toBe(exactNumbers(rewriteStrings(document)))
      }),
      { numRuns: 500 },
    )
  })

  it('is stable: a text that was written once is written the same again', () => {
    fc.assert(
      fc.property(text, (document) => {
        const once = renderJson(parseLossless(document))
        expect(renderJson(parseLossless(once))).toBe(once)
      }),
    )
  })

  it('parses an ordinary document as JSON.parse does', () => {
    const value = fc.jsonValue({ noUnicodeString: false })
    fc.assert(
      fc.property(value, (ordinary) => {
        const document = JSON.stringify(ordinary)
        expect(parseLossless(document)).toEqual(JSON.parse(document))
        expect(renderJson(parseLossless(document))).toBe(document)
      }),
    )
  })

  it('keeps ordinary numbers as numbers beside long ones', () => {
    const parsed = parseLossless(
      '{"a":1,"b":0.1,"c":[1e3,-0.5],"d":12345678901234567890}',
    ) as object
    expect(parsed).toMatchObject({ a: 1, b: 0.1, c: [1000, -0.5] })
    expect(JSON.isRawJSON((parsed as { d: unknown }).d)).toBe(true)
  })

  it('keeps __proto__ as a key of its own and no prototype', () => {
    const document = '{"__proto__":{"admin":12345678901234567890},"constructor":1}'
    const parsed = parseLossless(document) as Record<string, unknown>
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype)
    expect(parsed.admin).toBeUndefined()
    expect(renderJson(parsed)).toBe(document)
  })

  it.each(['', '{', '01', '1.', '.5', '+1', '1e', 'NaN', '{a:1}', '[1,]', '12345678901234567890x'])(
    'refuses %j as JSON.parse does',
    (document) => {
      expect(() => parseLossless(document)).toThrow(SyntaxError)
    },
  )

  it('takes time that grows with the length of a number', () => {
    const zeros = '0'.repeat(1_000_000)
    for (const source of [
      `1${zeros}1`,
      `1.${zeros}1`,
      `0.${zeros}1`,
      `1.${zeros}`,
      `1${zeros}e-1000000`,
    ]) {
      expect(renderJson(parseLossless(source)).length).toBeLessThanOrEqual(source.length)
    }
  })

  it('reads a document with numbers that lose digits as JSON.parse does, but for these numbers', () => {
    fc.assert(
      fc.property(fc.json({ noUnicodeString: false }), space, (ordinary, gap) => {
        const document = `${gap}[${gap}${ordinary}${gap},${gap}-0${gap}]`
        const [parsed] = parseLossless(document) as unknown[]
        expect(renderJson(parsed)).toBe(renderJson(JSON.parse(ordinary)))
      }),
      {
        examples: [
          ['{"a\\"b":"\\\\","\\u005f_proto__":[],"1":{},"a":1,"a":[true,false,null]}', '\n'],
        ],
      },
    )
  })

  it('runs no function of each value of a document with a number that loses digits', () => {
    const parse = vi.spyOn(JSON, 'parse')
    onTestFinished(() => parse.mockRestore())
    parseLossless(`[12345678901234567890,"1",${'1,'.repeat(100)}1]`)
    expect(parse).toHaveBeenCalled()
    for (const [, reviver] of parse.mock.calls) expect(reviver).toBeUndefined()
  })

  it('keeps a text of a document, and not the document with it', async () => {
    const chars = 16_000_000
    const parse = () => {
      const document = `["a text of some length",-0,"${'x'.repeat(chars)}"]`
      const [first] = parseLossless(document) as string[]
      // An engine remembers the text of its last match.
      expect(/a/.test('a')).toBe(true)
      return first
    }
    parse()
    const before = await measureHeap()
    const kept = parse()
    expect((await measureHeap()) - before).toBeLessThan(chars / 2)
    expect(kept).toBe('a text of some length')
  })

  it('writes undefined as null', () => {
    expect(renderJson(undefined)).toBe('null')
  })
})

/** The strings of a document written as JSON.stringify writes them. */
function rewriteStrings(document: string): string {
  return document.replaceAll(NUMBERS, (token) =>
    token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : token,
  )
}
