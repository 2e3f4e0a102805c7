import { describe, expect, it } from 'vitest'
import {
  compareExamples,
  countOutcomes,
  findMostDifferent,
  hasOutcome,
  LATENCY,
  type Outcome,
} from '../../../src/page/evaluations/comparison.ts'
import type { Example } from '../../../src/page/evaluations/example.ts'
import {
  formatDifference,
  formatScore,
  isBetterLow,
  meansOf,
  namesOf,
  type Scores,
  scoresOf,
} from '../../../src/page/evaluations/scores.ts'
import { sortByNumber } from '../../../src/page/parts/tables/sort-rows.ts'
import { listTextChanges } from '../../../src/page/parts/values/text-changes.ts'

function example(key: string, scores: Example['scores'], latencyMs: number | null = null): Example {
  return { key, callId: key, status: 'success', inputs: {}, output: '', scores, latencyMs }
}

describe('scores', () => {
  it.each([
    [true, { '': true }],
    [{ good: { true_count: 3, true_fraction: 0.75 } }, { 'good.true_count': 3, good: 0.75 }],
    [
      { stars: { mean: 2.5 }, label: 'fine' },
      { stars: 2.5, label: 'fine' },
    ],
    [{ why: 'x'.repeat(41), lines: 'a\nb', none: null }, {}],
    [{ list: [1, { n: 2 }] }, { 'list.0': 1, 'list.1.n': 2 }],
    [null, {}],
  ])('of %j', (value, scores) => {
    expect(scoresOf(value)).toEqual(scores)
  })

  it.each([
    [0.833333, '0.8333', '+0.833'],
    [57.8523, '57.85', '+57.9'],
    [12_345, '12,345', '+12,345'],
    [-123_456.7, '-123,457', '−123,457'],
    [1e300, '1.00e+300', '+1.00e+300'],
    [-1e15, '-1.00e+15', '−1.00e+15'],
  ])('of %d lose no digit before the point, below 1e15', (score, words, difference) => {
    expect([formatScore(score), formatDifference(score)]).toEqual([words, difference])
  })

  it('are a hundred of one value at most', () => {
    expect(Object.keys(scoresOf(Array.from({ length: 500 }, () => 1)))).toHaveLength(100)
  })

  it('have means of what has numbers, and names without counts', () => {
    const all: Scores[] = [
      { a: 1, b: true, c: 'x' },
      { a: 2, b: false },
      { d: 5, 'd.true_count': 5 },
    ]
    expect(meansOf(all)).toEqual({ a: 1.5, b: 0.5, d: 5, 'd.true_count': 5 })
    expect(namesOf(all)).toEqual(['a', 'b', 'c', 'd'])
  })

  it.each([
    ['latency', true],
    ['score:judge.error', true],
    ['total_cost', true],
    ['rating', false],
    ['terror', false],
  ])('less is better of %s: %s', (name, isLow) => {
    expect(isBetterLow(name)).toBe(isLow)
  })
})

describe('runs side by side', () => {
  const runs = [
    [example('a', { s: 1 }, 10), example('b', { s: 0.5 }, 10), example('c', { s: 1 })],
    [example('a', { s: 0.2 }, 30), example('b', { s: 0.9 }, 5), example('d', { s: 1 })],
    [example('a', { s: 1 }, 10), example('b', { s: 0.4 }, 10), example('c', { s: 'none' })],
  ]

  it('have the example first that got worst, and last what cannot be compared', () => {
    const compared = compareExamples(runs, 's', false)
    expect(compared.map(({ key }) => key)).toEqual(['a', 'b', 'c', 'd'])
    expect(compared[0]!.gains).toEqual([null, -0.8, 0])
    expect(compared[0]!.worst).toBe(-0.8)
    expect(compared[3]!.values).toEqual([null, 1, null])
    expect(compared.map(({ worst }) => worst === null)).toEqual([false, false, true, true])
    expect([1, 2].map((run) => countOutcomes(compared, run))).toEqual([
      { better: 1, worse: 1, same: 0 },
      { better: 0, worse: 1, same: 1 },
    ])
  })

  it('turn round where less is better', () => {
    expect(compareExamples(runs, 's', true).map(({ key }) => key)[0]).toBe('b')
    const [first] = compareExamples(runs, LATENCY, true)
    expect([first!.key, first!.worst]).toEqual(['a', -20])
  })

  it('have one example of several trials, with means', () => {
    const trials = [example('a', { s: 1 }, 10), example('a', { s: 0 }, 30)]
    const [compared] = compareExamples([trials, trials], 's', false)
    expect([compared!.values, compared!.gains]).toEqual([
      [0.5, 0.5],
      [null, 0],
    ])
    expect(compared!.outcomes[0]!.latencyMs).toBe(20)
  })
})

describe('rows by a number', () => {
  it('have those without one last, whichever way', () => {
    const rows = [3, null, 1, null, 2]
    const sorted = (direction: 'asc' | 'desc') => sortByNumber(rows, direction, (row) => row)
    expect(sorted('asc')).toEqual([1, 2, 3, null, null])
    expect(sorted('desc')).toEqual([3, 2, 1, null, null])
  })
})

describe('the score that differs most', () => {
  const runs = [
    [
      example('a', { same: 1, few: 100, most: 0.1 }, 1),
      example('b', { same: 0, few: 0, most: 0 }, 1),
    ],
    [
      example('a', { same: 1, few: 60, most: 0 }, 9),
      example('b', { same: 0, few: 0, most: 0.1 }, 9),
    ],
  ]

  it('is found by its share of the range, whatever its scale, and before the latency', () => {
    const names = ['same', 'few', 'most', LATENCY]
    expect(findMostDifferent(runs, names)).toBe('most')
    expect(findMostDifferent(runs, ['same', 'few', LATENCY])).toBe('few')
    expect(findMostDifferent(runs, ['same', 'none', LATENCY])).toBe(LATENCY)
  })
})

it('examples are better, worse, the same or without a score', () => {
  const runs = [
    [example('up', { s: 0 }), example('down', { s: 1 }), example('same', { s: 1 })],
    [example('up', { s: 1 }), example('down', { s: 0 }), example('same', { s: 1 })],
    [example('up', { s: 0 }), example('down', { s: 2 }), example('new', { s: 1 })],
  ]
  const compared = compareExamples(runs, 's', false)
  const keysOf = (outcome: Outcome) =>
    compared.filter((each) => hasOutcome(each, outcome)).map(({ key }) => key)
  expect(keysOf('better').toSorted()).toEqual(['down', 'up'])
  expect(keysOf('worse')).toEqual(['down'])
  expect(keysOf('same')).toEqual(['same'])
  expect(keysOf('missing').toSorted()).toEqual(['new', 'same'])
})

describe('the words in which texts differ', () => {
  it.each([
    ['It is red.', 'It is dark red.', '[It is ]+(dark )[red.]'],
    ['one two', 'one three', '[one ]-(two)+(three)'],
    ['{"a":1,"b":2}', '{"a":1,"b":3}', '[{"a":1,"b":]-(2)+(3)[}]'],
  ])('of %s and %s', (before, after, drawn) => {
    const marks = { same: ['[', ']'], removed: ['-(', ')'], added: ['+(', ')'] } as const
    const words = listTextChanges(before, after) ?? []
    const shown = words.map(({ kind, text }) => `${marks[kind][0]}${text}${marks[kind][1]}`)
    expect(shown.join('')).toBe(drawn)
  })

  it('are none without a common word, and of very long texts', () => {
    expect(listTextChanges('yes.', 'no.')).toBeNull()
    expect(listTextChanges('a '.repeat(2000), 'a')).toBeNull()
  })
})
