import { describe, expect, it } from 'vitest'
import { diffStates, renderState } from '../../../src/domain/access/audit.ts'

const CHARS_MAX = 65_536

describe('states in the audit list', () => {
  it('have only the fields that a change has changed', () => {
    const before = { id: 'a', scopes: ['admin'], name: null, limit: 1 }
    const after = { ...before, scopes: ['inference'], name: 'n' }
    expect(diffStates(before, after)).toEqual({
      before: { scopes: ['admin'], name: null },
      after: { scopes: ['inference'], name: 'n' },
    })
  })

  it('are whole up to 65,536 characters', () => {
    const state = { ids: Array.from({ length: 1000 }, (_, n) => `call-${n}`), note: 'x' }
    expect(renderState(state)).toBe(JSON.stringify(state))
  })

  it('are cut beyond that, the longest lists first, and say how much is left out', () => {
    const ids = Array.from({ length: 10_000 }, (_, n) => `call-${n}`)
    const text = renderState({ id: 'a', names: ['b', 'c'], ids })
    const { omitted, ...state } = JSON.parse(text)
    expect(text.length).toBeLessThanOrEqual(CHARS_MAX)
    expect(text.length).toBeGreaterThan(CHARS_MAX - 2048)
    expect(state).toMatchObject({ id: 'a', names: ['b', 'c'] })
    expect(state.ids).toEqual(ids.slice(0, state.ids.length))
    expect(omitted).toEqual({ ids: ids.length - state.ids.length })
  })

  it.each([
    { one: 'é'.repeat(200_000), other: ['y'.repeat(100_000)], rest: 1 },
    { one: { deep: ['z'.repeat(90_000)] }, other: Array(40_000).fill('"\n'), rest: 1 },
  ])('are never longer, whatever the fields are', (state) => {
    const text = renderState(state)
    expect(text.length).toBeLessThanOrEqual(CHARS_MAX)
    expect(JSON.parse(text)).toMatchObject({
      one: null,
      rest: 1,
      omitted: { one: expect.any(Number) },
    })
  })
})
