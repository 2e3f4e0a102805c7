import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  CHANGED_MAX,
  moveEdits,
  NO_EDITS,
  type RowEdits,
  updatesOf,
  withAdded,
  withChange,
} from '../../../src/page/datasets/row-edits.ts'
import type { Row } from '../../../src/page/objects/row-changes.ts'

const toRow = (val: object, original_index: number): Row => ({
  digest: JSON.stringify(val),
  val,
  original_index,
})

/** As `/table/update` applies them. */
function applyUpdates(rows: readonly object[], edits: RowEdits): object[] {
  const result = [...rows]
  for (const update of updatesOf(edits)) {
    if ('append' in update) result.push(update.append.row)
    else if ('insert' in update) result.splice(update.insert.index, 0, update.insert.row)
    else result.splice(update.pop.index, 1)
  }
  return result
}

const edits = fc.array(
  fc.record({ at: fc.nat(), kind: fc.constantFrom('change', 'remove', 'restore', 'add') }),
  { maxLength: 30 },
)

describe('edits of rows', () => {
  it('lead to the rows that one sees, in their order', () => {
    fc.assert(
      fc.property(fc.nat(8), edits, (count, steps) => {
        const rows = Array.from({ length: count }, (_, n) => ({ n }))
        const expected = new Map<number, object | null>(rows.map((row, at) => [at, row]))
        const added: object[] = []
        let made = NO_EDITS
        for (const [step, { at, kind }] of steps.entries()) {
          if (kind === 'add') {
            added.push({ added: step })
            made = withAdded(made, [{ added: step }])
            continue
          }
          if (count === 0) continue
          const index = at % count
          const before = rows[index] as object
          const val = kind === 'change' ? { changed: step } : kind === 'remove' ? null : before
          expected.set(index, val)
          made = withChange(made, toRow(before, index), val)
        }
        const shown = [...expected.values()].filter((row) => row !== null)
        expect(applyUpdates(rows, made)).toEqual([...shown, ...added])
      }),
    )
  })

  it('move to the rows of another version with the same content, and else become new rows', () => {
    const [a, b, c] = [{ n: 1 }, { n: 2 }, { n: 3 }].map(toRow) as [Row, Row, Row]
    let made = withChange(NO_EDITS, a, { n: 10 })
    made = withChange(made, b, null)
    made = withChange(made, c, { n: 30 })
    const { edits: moved, lost } = moveEdits(made, [{ ...a, original_index: 5 }])
    expect(lost).toBe(1)
    expect([...moved.changed]).toEqual([
      [5, { before: { ...a, original_index: 5 }, val: { n: 10 } }],
    ])
    expect(moved.added).toEqual([{ n: 30 }])
  })

  it('are at most CHANGED_MAX, of which one that was made can still change', () => {
    let made = NO_EDITS
    for (let at = 0; at < CHANGED_MAX; at += 1) made = withChange(made, toRow({ at }, at), null)
    expect(() => withChange(made, toRow({}, CHANGED_MAX), null)).toThrow('At most 1000 rows')
    expect(withChange(made, toRow({ at: 0 }, 0), { x: 1 }).changed.size).toBe(CHANGED_MAX)
  })
})
