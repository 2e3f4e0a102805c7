import { randomBytes } from 'node:crypto'
import { validate, version } from 'uuid'
import { describe, expect, it } from 'vitest'
import { createOrderedIds } from '../../src/domain/time/ordered-ids.ts'

const NOON_US = Date.UTC(2026, 0, 1, 12) * 1000
const DAY_US = 86_400e6

function timeOf(id: string): number {
  return Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)
}

describe('ordered ids', () => {
  it('are UUIDs of version 7 with the time of the clock', () => {
    const id = createOrderedIds(() => NOON_US, randomBytes)()
    expect([validate(id), version(id), timeOf(id)]).toEqual([true, 7, NOON_US / 1000])
  })

  it('sort in their order within a millisecond', () => {
    const newId = createOrderedIds(() => NOON_US, randomBytes)
    const ids = Array.from({ length: 5000 }, newId)
    expect(ids).toEqual([...ids].sort())
    expect(new Set(ids).size).toBe(5000)
  })

  it('sort in their order where the count begins at its highest', () => {
    const newId = createOrderedIds(
      () => NOON_US,
      (count) => new Uint8Array(count).fill(255),
    )
    const ids = Array.from({ length: 3 }, newId)
    expect(ids).toEqual([...ids].sort())
    expect(new Set(ids).size).toBe(3)
  })

  it('follow a clock that was set back a day', () => {
    let nowUs = NOON_US
    const newId = createOrderedIds(() => nowUs, randomBytes)
    const before = newId()
    nowUs -= DAY_US
    const after = newId()
    expect(timeOf(before) - timeOf(after)).toBe(DAY_US / 1000)
    expect(newId() > after).toBe(true)
  })
})
