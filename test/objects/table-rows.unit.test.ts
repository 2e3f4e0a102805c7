import { expect, it } from 'vitest'
import { digestChanges } from '../../src/routes/objects/table-rows.ts'

it('digests many changes of a table in slices, between which other work runs', async () => {
  const insert = { index: 0, row: { text: 'x'.repeat(1000) } }
  let read = 0
  const change = {
    get insert() {
      read += 1
      return insert
    },
  }
  const updates = Array.from({ length: 1000 }, () => change)
  const body = JSON.stringify({ updates: updates.map(() => ({ insert })) })
  let [before, most, isDone] = [0, 0, false]
  const look = () => {
    most = Math.max(most, read - before)
    before = read
    if (!isDone) setImmediate(look)
  }
  setImmediate(look)
  const { rows } = await digestChanges(updates, body)
  look()
  isDone = true
  expect([rows.length, read]).toEqual([1000, 1000])
  expect(most).toBeLessThan(100)
})
