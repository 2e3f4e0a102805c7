import { describe, expect, it, vi } from 'vitest'
import { binsOf, labelsOf, numbersIn } from '../../../src/page/feedback/bins.ts'
import { fieldOfPath } from '../../../src/page/feedback/leaf-paths.ts'

// Formats read the zone that a browser has stored.
vi.hoisted(() => vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => undefined }))

describe('the distribution of a score', () => {
  it('has a bin for each of few numbers', () => {
    expect(binsOf([5, 1, 5, 2.5])).toEqual([
      { label: '1', count: 1 },
      { label: '2.5', count: 1 },
      { label: '5', count: 2 },
    ])
    expect(binsOf([])).toEqual([])
  })

  it('has ten bins of many numbers, which count each of them once', () => {
    const bins = binsOf(Array.from({ length: 101 }, (_, at) => at))
    expect(bins.map(({ count }) => count)).toEqual([10, 10, 10, 10, 10, 10, 10, 10, 10, 11])
    expect(bins[0]?.label).toBe('0 – 10')
    expect(bins.at(-1)?.label).toBe('90 – 100')
    const far = [-Number.MAX_VALUE, ...Array.from({ length: 20 }, (_, at) => at), Number.MAX_VALUE]
    expect(binsOf(far).reduce((sum, { count }) => sum + count, 0)).toBe(22)
  })

  it('counts labels, the most frequent first, and those beyond twenty together', () => {
    expect(labelsOf(['b', 'a', 'b', true])).toEqual([
      { label: 'b', count: 2 },
      { label: 'a', count: 1 },
      { label: 'true', count: 1 },
    ])
    const many = labelsOf(Array.from({ length: 25 }, (_, at) => `l${at}`))
    expect([many.length, many.at(-1)]).toEqual([21, { label: 'others', count: 5 }])
  })

  it('leaves out what is no number', () => {
    expect(numbersIn([1, '2', null, true, { a: 1 }, 0.5])).toEqual([1, 0.5])
  })
})

describe('the field of a path in payloads', () => {
  it.each([
    ['value', 'payload.value'],
    ['output.score', 'payload.output.score'],
    ['["a b"].c', 'payload.a b.c'],
    ['a["b-c"]', 'payload.a.b-c'],
    ['a["b.c"]', null],
    ['tags[*]', null],
    ['[*].a', null],
  ])('of %s is %s', (path, field) => {
    expect(fieldOfPath(path)).toBe(field)
  })
})
