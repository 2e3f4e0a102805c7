import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createPriceTable } from '../../../src/domain/prices/price-table.ts'
import {
  decodeSegment,
  encodeSegment,
  narrow,
} from '../../../src/store/sqlite/stats/segments/segment-blob.ts'

const column = fc.array(fc.oneof(fc.nat(255), fc.nat(70_000), fc.nat(2 ** 31 - 1)))
const blobOf = (values: readonly number[]) =>
  encodeSegment(
    { note: 'é' },
    { first: narrow(Uint32Array.from(values)), last: Float64Array.of(0.5) },
  )

describe('a segment blob', () => {
  it('a segment blob is read as it was written, at any memory offset', () => {
    fc.assert(
      fc.property(column, fc.nat(9), (values, shift) => {
        const blob = blobOf(values)
        const moved = new Uint8Array(blob.length + shift)
        moved.set(blob, shift)
        const found = decodeSegment<{ note: string }>(moved.subarray(shift))
        expect(found?.meta).toEqual({ note: 'é' })
        expect([...(found?.integers('first') ?? [])]).toEqual(values)
        expect([...(found?.doubles('last') ?? [])]).toEqual([0.5])
      }),
    )
  })

  it('a segment blob with a changed or missing byte is refused', () => {
    fc.assert(
      fc.property(column, fc.nat(), fc.integer({ min: 1, max: 255 }), (values, at, change) => {
        const blob = blobOf(values)
        expect(decodeSegment(blob.subarray(0, at % blob.length))).toBeNull()
        const place = at % blob.length
        blob[place] = (blob[place] ?? 0) ^ change
        expect(decodeSegment(blob)).toBeNull()
      }),
    )
  })
})

describe('createPriceTable', () => {
  it('a price table is unchanged up to the time steadyUntilUs', () => {
    const prices = createPriceTable()
    const model = fc.constantFrom('gpt-4o', 'deepseek-chat', 'gemini-2.5-pro', 'o3', 'nobody-knows')
    const time = fc.integer({ min: Date.UTC(2024, 0, 1), max: Date.UTC(2026, 6, 1) })
    fc.assert(
      fc.property(
        model,
        time,
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (name, ms, part) => {
          const us = ms * 1000
          const untilUs = prices.steadyUntilUs(name, null, us)
          expect(untilUs).toBeGreaterThan(us)
          const later = Math.min(untilUs - 1, us + 4e14)
          expect(prices.find(name, null, us + Math.floor((later - us) * part))).toBe(
            prices.find(name, null, us),
          )
          expect(prices.find(name, null, later)).toBe(prices.find(name, null, us))
        },
      ),
    )
  })
})
