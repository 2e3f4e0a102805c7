import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { listRowChanges } from '../../../src/page/objects/row-changes.ts'
import { canonicalText, listChanges } from '../../../src/page/objects/value-changes.ts'
import { align } from '../../../src/page/parts/align.ts'

const words = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 })

describe('the steps from one list to another', () => {
  it('have both lists in them, in their order', () => {
    fc.assert(
      fc.property(words, words, (before, after) => {
        const steps = align(before, after)
        const left = steps.filter(({ kind }) => kind !== 'added').map((step) => step.before)
        const right = steps.filter(({ kind }) => kind !== 'removed').map((step) => step.after)
        expect(left).toEqual(before.map((_word, at) => at))
        expect(right).toEqual(after.map((_word, at) => at))
        for (const step of steps)
          if (step.kind === 'same') expect(before[step.before]).toBe(after[step.after])
      }),
    )
  })

  it('keep what can be kept', () => {
    const kept = (before: string, after: string) =>
      align([...before], [...after]).filter(({ kind }) => kind === 'same').length
    expect(kept('abcabba', 'cbabac')).toBe(4)
    expect(kept('abc', 'abc')).toBe(3)
    expect(kept('', 'abc')).toBe(0)
  })

  it('replace what is too long to be compared', () => {
    const before = Array.from({ length: 3000 }, (_, at) => `x${at}`)
    const after = Array.from({ length: 3000 }, (_, at) => `y${at}`)
    expect(align(before, after).filter(({ kind }) => kind === 'same')).toEqual([])
  })
})

describe('the differences of two values', () => {
  it('are none for the same, and some for others', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (before, after) => {
        expect(listChanges(before, JSON.parse(JSON.stringify(before)))).toEqual([])
        const isSame = canonicalText(before) === canonicalText(after)
        expect(listChanges(before, after).length === 0).toBe(isSame)
      }),
    )
  })

  it.each([
    [{ a: 1 }, { a: 2 }, ['a changed 1 2']],
    [{ a: 1 }, { b: 1 }, ['b added undefined 1', 'a removed 1 undefined']],
    [{ a: { b: [1, 2, 3] } }, { a: { b: [1, 3] } }, ['a.b[1] removed 2 undefined']],
    [[{ n: 1, t: 'x' }], [{ n: 2, t: 'x' }], ['[0].n changed 1 2']],
    [{ 'a.b': 1 }, { 'a.b': 2 }, ['"a.b" changed 1 2']],
    [null, { a: 1 }, [' changed null [object Object]']],
    [[1], { 0: 1 }, [' changed 1 [object Object]']],
  ])('%j to %j', (before, after, expected) => {
    const told = listChanges(before, after).map(
      (change) => `${change.path} ${change.kind} ${change.before} ${change.after}`,
    )
    expect(told).toEqual(expected)
  })
})

describe('the differences of rows', () => {
  const row = (original_index: number, digest: string, val: object = {}) => {
    return { original_index, digest, val }
  }

  it('pair rows of one id or one place, and let the rest come and go', () => {
    const before = [row(0, 'a'), row(1, 'b', { id: 7 }), row(2, 'c'), row(3, 'd'), row(4, 'd')]
    const after = [row(0, 'd'), row(1, 'a'), row(2, 'x'), row(3, 'y', { id: 7 }), row(9, 'z')]
    const told = listRowChanges(before, after).map(
      (change) => `${change.kind} ${change.before?.digest ?? ''}${change.after?.digest ?? ''}`,
    )
    expect(told).toEqual(['changed cx', 'changed by', 'removed d', 'added z'])
  })

  it('are none where rows only moved', () => {
    expect(listRowChanges([row(0, 'a'), row(1, 'b')], [row(0, 'b'), row(1, 'a')])).toEqual([])
  })
})
