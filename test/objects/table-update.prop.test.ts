import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  applyTableChanges,
  MOVES_MAX,
  type TableChange,
} from '../../src/domain/objects/table-update.ts'

const place = fc.nat({ max: 9 })
const digest = fc.string({ minLength: 1, maxLength: 3 })
const change: fc.Arbitrary<TableChange> = fc.oneof(
  fc.record({ kind: fc.constant('append' as const), digest }),
  fc.record({ kind: fc.constant('pop' as const), index: place }),
  fc.record({ kind: fc.constant('insert' as const), index: place, digest }),
)

/** One change to a list that is copied each time. */
function change1(rows: readonly string[], change: TableChange): [string[], string] | null {
  if (change.kind === 'append') return [[...rows, change.digest], change.digest]
  const { index } = change
  const before = rows.slice(0, index)
  if (change.kind === 'insert') {
    if (index > rows.length) return null
    return [[...before, change.digest, ...rows.slice(index)], change.digest]
  }
  const taken = rows[index]
  return taken === undefined ? null : [[...before, ...rows.slice(index + 1)], taken]
}

it('does what changing a copied list one by one does, or names the change that cannot be', () => {
  fc.assert(
    fc.property(
      fc.array(digest, { maxLength: 6 }),
      fc.array(change, { maxLength: 12 }),
      (base, changes) => {
        let rows = base
        const updated: string[] = []
        for (const [at, one] of changes.entries()) {
          const next = change1(rows, one)
          if (next === null) {
            expect(() => applyTableChanges([...base], changes)).toThrow(
              expect.objectContaining({
                code: 'validation_failed',
                param: `updates[${at}].${one.kind}.index`,
              }),
            )
            return
          }
          rows = next[0]
          updated.push(next[1])
        }
        expect(applyTableChanges([...base], changes)).toEqual({
          row_digests: rows,
          updated_row_digests: updated,
        })
      },
    ),
  )
})

it('accepts as many moves as its limit and not one more', () => {
  const moves = Array.from({ length: MOVES_MAX }, () => ({
    kind: 'insert' as const,
    index: 0,
    digest: 'd',
  }))
  expect(applyTableChanges([], moves).row_digests).toHaveLength(MOVES_MAX)
  expect(() => applyTableChanges([], [...moves, { kind: 'pop', index: 0 }])).toThrow(
    expect.objectContaining({ code: 'validation_failed', param: 'updates' }),
  )
})
