import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  comparePair,
  poolPeople,
  type Series,
  toSeries,
} from '../../src/domain/feedback/agreement.ts'
import {
  alphaOf,
  confusionOf,
  kappaOf,
  meanDifferenceOf,
  weightedKappaOf,
} from '../../src/domain/feedback/agreement-measures.ts'

/**
 * Digits are ratings. Kappas and tables are those of `cohen_kappa_score` (weights: none, `quadratic`) and
 * `confusion_matrix` of scikit-learn 1.9.1, alphas those of the package krippendorff 0.9.0.
 */
const REFERENCE = [
  {
    left: '101000100001',
    right: '110000100001',
    kappa: 0.625,
    weighted: 0.625,
    alpha: 0.640625,
    interval: 0.640625,
    confusion: [
      [7, 1],
      [1, 3],
    ],
  },
  {
    left: '0001000011111110000111110010101100111110',
    right: '0001000111001011100111100000100100111100',
    kappa: 0.504950495049505,
    weighted: 0.504950495049505,
    alpha: 0.5062500000000001,
    interval: 0.5062500000000001,
    confusion: [
      [15, 3],
      [7, 15],
    ],
  },
  {
    left: '100120002020120002102112110011',
    right: '101120022022121002102110112011',
    kappa: 0.7,
    weighted: 0.5263157894736843,
    alpha: 0.702020202020202,
    interval: 0.5267379679144385,
    confusion: [
      [8, 2, 3],
      [0, 10, 0],
      [1, 0, 6],
    ],
  },
  {
    left: '232142322010131213440320031313203330111014314432144100041311',
    right: '112412322010133213100420010313243324114014330211144210031313',
    kappa: 0.5121951219512195,
    weighted: 0.3687142194027542,
    alpha: 0.5160891089108911,
    interval: 0.37358724260721465,
    confusion: [
      [8, 1, 0, 0, 2],
      [1, 10, 1, 3, 2],
      [0, 2, 7, 0, 0],
      [0, 3, 1, 9, 1],
      [2, 2, 1, 1, 3],
    ],
  },
  {
    left: '1220202433032442400100220',
    right: '1124220100210242010112421',
    kappa: 0.12371134020618546,
    weighted: -0.06550022431583669,
    alpha: 0.11851851851851847,
    interval: -0.055794964844635864,
    confusion: [
      [1, 3, 3, 0, 1],
      [0, 2, 0, 0, 0],
      [2, 1, 4, 0, 1],
      [2, 1, 0, 0, 0],
      [1, 1, 1, 0, 1],
    ],
  },
  {
    left: '22020001313033321121132010023100321203112302222102',
    right: '22020001313033321121132010023100321203112302212002',
    kappa: 0.9463519313304721,
    weighted: 0.9831081081081081,
    alpha: 0.9468741615240139,
    interval: 0.983271375464684,
    confusion: [
      [13, 0, 0, 0],
      [1, 11, 0, 0],
      [0, 1, 14, 0],
      [0, 0, 0, 10],
    ],
  },
]

/** Three raters of 20 calls; `*`: not rated. Of the package krippendorff 0.9.0. */
const THREE = {
  rows: ['*3123313*00233*21013', '03113*0102*3023*2313', '*0*2*23113*2033023*3'],
  alpha: 0.18686868686868696,
  interval: 0.10220014194464155,
}

const toPairs = (left: string, right: string) =>
  [...left].map((one, at) => [Number(one), Number(right[at])] as const)

describe('agreement of two raters', () => {
  it.each(REFERENCE)('is that of scikit-learn: $left', (row) => {
    const pairs = toPairs(row.left, row.right)
    expect(kappaOf(pairs)).toBeCloseTo(row.kappa, 12)
    expect(weightedKappaOf(pairs)).toBeCloseTo(row.weighted, 12)
    expect(confusionOf(pairs)?.confusion).toEqual(row.confusion)
    expect(alphaOf(pairs, 'nominal')).toBeCloseTo(row.alpha, 12)
    expect(alphaOf(pairs, 'interval')).toBeCloseTo(row.interval, 12)
  })

  it('among three raters with gaps is that of krippendorff', () => {
    const units = [...(THREE.rows[0] ?? '')].map((_, at) =>
      THREE.rows.flatMap((row) => (row[at] === '*' ? [] : [Number(row[at])])),
    )
    expect(alphaOf(units, 'nominal')).toBeCloseTo(THREE.alpha, 12)
    expect(alphaOf(units, 'interval')).toBeCloseTo(THREE.interval, 12)
  })

  const rating = fc.oneof(fc.boolean(), fc.integer({ min: 0, max: 3 }), fc.constantFrom('a', 'b'))
  const numbers = fc.array(
    fc.tuple(fc.integer({ min: -9, max: 9 }), fc.integer({ min: -9, max: 9 })),
  )

  it('kappa is agreement beyond chance, as counted pair by pair', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(rating, rating)), (pairs) => {
        const n = pairs.length
        const observed = pairs.filter(([one, other]) => one === other).length / n
        const chance =
          pairs.flatMap(([one]) => pairs.filter(([, other]) => one === other)).length / n ** 2
        const kappa = kappaOf(pairs)
        if (n === 0 || chance === 1) expect(kappa).toBeNull()
        else expect(kappa).toBeCloseTo((observed - chance) / (1 - chance), 9)
      }),
    )
  })

  it('weighted kappa is one less the share of squared differences that chance would give', () => {
    fc.assert(
      fc.property(numbers, fc.constantFrom(0, 1e9), (near, origin) => {
        const pairs = near.map(([one, other]) => [one + origin, other + origin] as const)
        const squares = (some: readonly (readonly number[])[]) =>
          some.reduce((sum, [one = 0, other = 0]) => sum + (one - other) ** 2, 0)
        const all = pairs.flatMap(([one]) => pairs.map(([, other]) => [one, other]))
        const expected = squares(all) / pairs.length
        const kappa = weightedKappaOf(pairs)
        if (pairs.length === 0 || expected === 0) expect(kappa).toBeNull()
        else expect(kappa).toBeCloseTo(1 - squares(pairs) / expected, 9)
      }),
    )
  })

  it('of nothing, and of one label alone, is not known', () => {
    expect([
      kappaOf([]),
      weightedKappaOf([]),
      meanDifferenceOf([]),
      alphaOf([], 'nominal'),
    ]).toEqual([null, null, null, null])
    expect(kappaOf([[true, true]])).toBeNull()
    expect(weightedKappaOf([['a', 'b']])).toBeNull()
  })

  it('has no table for more than 20 labels', () => {
    const pairs = Array.from({ length: 21 }, (_, n) => [n, n] as const)
    expect(confusionOf(pairs)).toBeNull()
    expect(confusionOf(pairs.slice(1))?.labels).toHaveLength(20)
  })
})

describe('raters', () => {
  const row = (call: string, feedback_type: string, payload: object, more: object = {}) => ({
    project_id: 'a/b',
    id: 'f',
    weave_ref: `weave:///a/b/call/${call}`,
    feedback_type,
    creator: null,
    annotation_ref: null,
    runnable_ref: null,
    call_ref: null,
    trigger_ref: null,
    queue_id: null,
    svc_user_id: 'ada',
    created_at_us: 1,
    scores_json: null,
    payload_json: JSON.stringify(payload),
    ...more,
  })
  const seriesOf = (
    kind: Series['kind'],
    name: string,
    given: Record<string, boolean | number>,
  ) => ({
    kind,
    name,
    feedback_type: 't',
    ratings: new Map(Object.entries(given)),
  })

  it('are users and evaluators by type; of two ratings of a call the newer one counts', () => {
    const found = toSeries(
      [
        row('c', 'wandb.reaction.1', { emoji: '👎' }),
        row('c', 'wandb.reaction.1', { emoji: '👍' }),
        row('c', 'wandb.reaction.1', { emoji: '🎉' }),
        row('c', 'wandb.note.1', { note: 'fine' }),
        row('c', 'wandb.annotation.tone', { value: 'rude' }, { svc_user_id: 'bob' }),
        row('c', 'wandb.runnable.judge', { output: { score: 0.3 } }),
        row('d', 'wandb.runnable.judge', { output: { passed: true } }),
      ],
      {},
    )
    expect(found.map(({ kind, name, ratings }) => [kind, name, ...ratings])).toEqual([
      ['judge', 'judge', ['c', 0.3], ['d', true]],
      ['person', 'ada', ['c', true]],
      ['person', 'bob', ['c', 'rude']],
    ])
  })

  it('are people by their ratings in a range of time, and judges by all of theirs', () => {
    const at = (created_at_us: number) => ({ created_at_us })
    const found = toSeries(
      [
        row('early', 'wandb.reaction.1', { emoji: '👍' }, at(999_999)),
        row('first', 'wandb.reaction.1', { emoji: '👍' }, at(1_000_000)),
        row('late', 'wandb.reaction.1', { emoji: '👍' }, at(2_000_000)),
        row('late', 'wandb.runnable.judge', { output: { score: 1 } }, at(2_000_000)),
      ],
      { after: '1970-01-01T00:00:01Z', before: '1970-01-01T00:00:02Z' },
    )
    expect(found.map(({ kind, ratings }) => [kind, ...ratings.keys()])).toEqual([
      ['person', 'first'],
      ['judge', 'late'],
    ])
  })

  it('with numbers are compared with those who pass or fail by a mark', () => {
    const people = seriesOf('people', 'people', { a: true, b: false, c: true })
    const judge = seriesOf('judge', 'judge', { a: 0.6, b: 0.5, c: 0.4, d: 1 })
    expect(comparePair(people, judge, {})).toMatchObject({
      calls: 3,
      agreed: 1,
      labels: [false, true],
      confusion: [
        [0, 1],
        [1, 1],
      ],
    })
    expect(comparePair(people, judge, { judge_pass_at: 0.6 })).toMatchObject({ agreed: 2 })
  })

  it('are pooled by majority, and by the mean of numbers', () => {
    const most = poolPeople([
      seriesOf('person', 'ada', { a: true, b: true, n: 1 }),
      seriesOf('person', 'bob', { a: true, b: false, n: 4 }),
      seriesOf('person', 'eve', { a: false }),
    ])
    expect([...most.ratings]).toEqual([
      ['a', true],
      ['n', 2.5],
    ])
  })
})
