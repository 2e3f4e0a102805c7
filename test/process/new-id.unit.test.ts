import { validate, version } from 'uuid'
import { describe, expect, it } from 'vitest'
import { newId } from '../../src/http/new-id.ts'

describe('newId', () => {
  it('makes distinct UUIDs of version 7, also past the end of its pool', () => {
    const ids = Array.from({ length: 2000 }, newId)
    expect(new Set(ids).size).toBe(2000)
    expect(ids.every((id) => validate(id) && version(id) === 7)).toBe(true)
  })

  it('makes ids that sort in their order, also within a millisecond', () => {
    const ids = Array.from({ length: 2000 }, newId)
    expect(ids).toEqual([...ids].sort())
  })

  it('uses no random byte twice', () => {
    const ends = Array.from({ length: 5000 }, () => newId().slice(-12))
    expect(new Set(ends).size).toBe(5000)
  })
})
