import { validate, version } from 'uuid'
import { describe, expect, it } from 'vitest'
import { newId } from '../../src/http/new-id.ts'

describe('newId', () => {
  it('makes distinct UUIDs of version 7, also past the end of its pool', () => {
    const ids = Array.from({ length: 2000 }, newId)
    expect(new Set(ids).size).toBe(2000)
    expect(ids.every((id) => validate(id) && version(id) === 7)).toBe(true)
  })

  it('makes ids that sort by their millisecond', async () => {
    const first = newId()
    const begin = Date.now()
    while (Date.now() === begin) await new Promise(setImmediate)
    expect(newId() > first).toBe(true)
  })
})
