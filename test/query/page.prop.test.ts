/** Pages join to the list, whatever the limit, the order, and the changes between pages. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rowsToRead, toPage } from '../../src/domain/query/page.ts'

interface Row {
  readonly id: string
  readonly step: number
  isDeleted: boolean
}

const rowOf = (step: number): Row => ({ id: `id-${step}`, step, isDeleted: false })

/** What a store does: the rows behind the cursor, whose own row may be deleted. */
function readRows(rows: readonly Row[], after: string, order: string, count: number): Row[] {
  const direction = order === 'asc' ? 1 : -1
  const cursor = rows.find(({ id }) => id === after)
  return rows
    .filter(({ isDeleted }) => !isDeleted)
    .filter(({ step }) => cursor === undefined || (step - cursor.step) * direction > 0)
    .sort((left, right) => (left.step - right.step) * direction)
    .slice(0, count)
}

/** All pages, one after the other; `between` may change the rows after each. */
function readPages(rows: Row[], limit: number, order: string, between: (page: number) => void) {
  const seen: Row[] = []
  let after = ''
  for (let page = 0; page < 1000; page++) {
    const { data, has_more, first_id, last_id } = toPage(
      readRows(rows, after, order, rowsToRead(limit)),
      limit,
    )
    expect(data.length).toBeLessThanOrEqual(limit)
    expect([first_id, last_id]).toEqual([data[0]?.id ?? '', data.at(-1)?.id ?? ''])
    const following = data.length === 0 ? [] : readRows(rows, last_id, order, 1)
    expect(has_more).toBe(following.length > 0)
    seen.push(...data)
    if (!has_more) return seen
    after = last_id
    between(page)
  }
  throw new Error('the pages have no end')
}

const steps = fc.uniqueArray(fc.nat(200), { maxLength: 60 })
const limit = fc.integer({ min: 1, max: 70 })
const order = fc.constantFrom('asc', 'desc')

describe('toPage', () => {
  it('cuts a list into pages that join to the whole list', () => {
    fc.assert(
      fc.property(steps, limit, order, (chosen, size, direction) => {
        const rows = chosen.map(rowOf)
        const seen = readPages(rows, size, direction, () => undefined)
        expect(seen).toEqual(readRows(rows, '', direction, rows.length))
      }),
    )
  })

  it('shows every lasting row once while others come and go between pages', () => {
    const change = fc.record({ step: fc.nat(200), isDeletion: fc.boolean() })
    fc.assert(
      fc.property(steps, limit, order, fc.array(change), (chosen, size, direction, changes) => {
        const rows = chosen.map(rowOf)
        const seen = readPages(rows, size, direction, (page) => {
          const next = changes[page]
          if (next === undefined) return
          const row = rows.find(({ step }) => step === next.step)
          if (row && next.isDeletion) row.isDeleted = true
          if (!row && !next.isDeletion) rows.push(rowOf(next.step))
        })
        const seenSteps = seen.map(({ step }) => step)
        const sorted = [...seenSteps].sort((a, b) => (direction === 'asc' ? a - b : b - a))
        expect(seenSteps).toEqual(sorted)
        expect(new Set(seenSteps).size).toBe(seenSteps.length)
        const lasting = chosen.filter((step) =>
          rows.some((row) => row.step === step && !row.isDeleted),
        )
        for (const step of lasting) expect(seenSteps).toContain(step)
      }),
    )
  })
})
