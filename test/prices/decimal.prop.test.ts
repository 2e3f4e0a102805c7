import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decimalAtoms, renderDecimal } from '../../src/domain/prices/decimal.ts'

const price = fc.double({ min: 0, max: 1e6, noNaN: true })

describe('renderDecimal', () => {
  it('reads as the same number, without an exponent', () => {
    fc.assert(
      fc.property(price, (value) => {
        const text = renderDecimal(value)
        expect(text).toMatch(/^(?:0|[1-9]\d*)(?:\.\d+)?$/)
        expect(Number(text)).toBe(Math.abs(value))
      }),
    )
  })

  it.each([
    [2.5e-7, '0.00000025'],
    [1e21, '1000000000000000000000'],
    [0, '0'],
    [12.5, '12.5'],
    [100, '100'],
  ])('writes %d as %s', (value, text) => {
    expect(renderDecimal(value)).toBe(text)
  })
})

describe('decimalAtoms', () => {
  it.each([
    ['1', 10 ** 15],
    ['0.0000025', 2_500_000_000],
    ['0.0000000000000005', 1],
    ['0.0000000000000004', 0],
    ['1000000.000000000000001', 1_000_000_000_000_000_000_001n],
    ['10', 10_000_000_000_000_000n],
  ])('counts %s dollars as %s atoms', (text, atoms) => {
    expect(decimalAtoms(text)).toBe(atoms)
  })

  it('is exact for decimals of up to fifteen places', () => {
    const digits = fc.bigInt({ min: 0n, max: 10n ** 21n })
    const places = fc.integer({ min: 0, max: 15 })
    fc.assert(
      fc.property(digits, places, (whole, shift) => {
        const text = String(whole).padStart(shift + 1, '0')
        const decimal = shift === 0 ? text : `${text.slice(0, -shift)}.${text.slice(-shift)}`
        expect(BigInt(decimalAtoms(decimal))).toBe(whole * 10n ** BigInt(15 - shift))
      }),
    )
  })
})
