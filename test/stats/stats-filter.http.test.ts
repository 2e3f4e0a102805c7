import { describe, expect, it } from 'vitest'
import { buildTestApp } from '../support/build-test-app.ts'
import { ask, countCalls, record } from './support/stats-fixtures.ts'

const OP = 'weave:///acme/demo/op/predict'
const OBJECT = 'weave:///acme/demo/object/data'

/** Two calls that differ in everything that a filter can look at. */
async function buildTwoCalls() {
  const app = await buildTestApp()
  for (const n of [1, 2]) {
    await record(app, {
      id: `c${n}`,
      start: {
        op_name: `${OP}:v${n}`,
        trace_id: `trace-${n}`,
        parent_id: n === 1 ? null : 'c1',
        thread_id: `thread-${n}`,
        turn_id: `turn-${n}`,
        svc_run_id: `run-${n}`,
        attributes: n === 1 ? { user: 'ada' } : {},
        inputs: { deep: [{ ref: `${OBJECT}:in${n}` }] },
      },
      end: { output: [`${OBJECT}:out${n}`], summary: { usage: { m: { input_tokens: n } } } },
    })
  }
  return app
}

/** How many of the two calls match, counted as calls and as usage. */
async function countMatches(app: Awaited<ReturnType<typeof buildTwoCalls>>, filter: unknown) {
  const calls = await countCalls(app, { filter })
  const { body } = await ask(app, { filter, usage_metrics: [{ metric: 'input_tokens' }] })
  const [bucket] = body.usage_buckets
  expect(bucket?.count ?? 0).toBe(calls)
  return calls
}

/** Field, an entry that only the first call matches, one that none does. */
const LISTS: [field: string, first: string, none: string][] = [
  ['op_names', `${OP}:v1`, OP],
  ['input_refs', `${OBJECT}:in1`, `${OBJECT}:out1`],
  ['output_refs', `${OBJECT}:out1`, `${OBJECT}:in1`],
  ['parent_ids', 'c1', 'c2'],
  ['trace_ids', 'trace-1', 'trace'],
  ['call_ids', 'c1', 'C1'],
  ['thread_ids', 'thread-1', 'thread-'],
  ['turn_ids', 'turn-1', 'turn-3'],
  ['svc_run_ids', 'run-1', 'run'],
  ['end_user_ids', 'ada', 'Ada'],
]

describe('the filter of POST /calls/stats', () => {
  it.each(LISTS)('§2.7 %s matches any of its entries exactly', async (field, first, none) => {
    const app = await buildTwoCalls()
    expect(await countMatches(app, { [field]: [first] })).toBe(1)
    expect(await countMatches(app, { [field]: [none] })).toBe(0)
    expect(await countMatches(app, { [field]: [none, first] })).toBe(1)
    for (const empty of [[], null, undefined]) {
      expect(await countMatches(app, { [field]: empty })).toBe(2)
    }
  })

  it('§2.7 svc_user_ids matches the user of the key', async () => {
    const app = await buildTwoCalls()
    expect(await countMatches(app, { svc_user_ids: ['u-1'] })).toBe(2)
    expect(await countMatches(app, { svc_user_ids: ['u-2'] })).toBe(0)
    expect(await countMatches(app, { svc_user_ids: [] })).toBe(2)
  })

  it('§2.7 trace_roots_only leaves out calls with a parent', async () => {
    const app = await buildTwoCalls()
    expect(await countMatches(app, { trace_roots_only: true })).toBe(1)
    for (const off of [false, null, undefined]) {
      expect(await countMatches(app, { trace_roots_only: off })).toBe(2)
    }
  })

  it.each([
    ['op_names', `${OP}:*`, 2],
    ['op_names', `${OP}:v*`, 0],
    ['op_names', 'weave:///acme/demo/op/pre:*', 0],
    ['input_refs', `${OBJECT}:*`, 2],
    ['output_refs', `${OBJECT}:*`, 2],
    ['output_refs', 'weave:///acme/demo/object/dat:*', 0],
    ['call_ids', 'c:*', 0],
  ])('§2.7 %s with %s matches %d of 2: versions only', async (field, entry, matches) => {
    const app = await buildTwoCalls()
    expect(await countMatches(app, { [field]: [entry] })).toBe(matches)
  })

  it.each(['%', '_', '100%:*', "' OR 1=1 --", '[a-z]', '\u0000'])(
    '§2.7 op_names takes %j as it is',
    async (name) => {
      const app = await buildTwoCalls()
      expect(await countMatches(app, { op_names: [name] })).toBe(0)
    },
  )

  it('§4.4 filter: fields are joined by and, entries by or', async () => {
    const app = await buildTwoCalls()
    const both = { call_ids: ['c1', 'c2'] }
    expect(await countMatches(app, both)).toBe(2)
    expect(await countMatches(app, { ...both, thread_ids: ['thread-2'] })).toBe(1)
    expect(await countMatches(app, { call_ids: ['c1'], thread_ids: ['thread-2'] })).toBe(0)
    expect(await countMatches(app, { ...both, trace_roots_only: true })).toBe(1)
    for (const none of [null, undefined, {}]) expect(await countMatches(app, none)).toBe(2)
  })

  it('a filter of 1,000 entries is accepted', async () => {
    const app = await buildTwoCalls()
    const call_ids = Array.from({ length: 1000 }, (_, index) => `c${index}`)
    expect(await countMatches(app, { call_ids, op_names: call_ids })).toBe(0)
    expect(await countMatches(app, { call_ids })).toBe(2)
  })

  const refused = [
    ['text', ''],
    [{}, ''],
    [[7], '[0]'],
    [[null], '[0]'],
    [['x'.repeat(2049)], '[0]'],
    [Array.from({ length: 1001 }, () => 'x'), ''],
  ] as const
  const lists = [...LISTS.map(([field]) => field), 'svc_user_ids']
  it.each<[field: string, values: readonly (readonly [value: unknown, at: string])[]]>([
    ...lists.map((field): [string, typeof refused] => [field, refused]),
    [
      'trace_roots_only',
      [
        ['yes', ''],
        [1, ''],
        [['x'], ''],
      ],
    ],
    ['wb_user_ids', [[['u'], '']]],
  ])('refuses wrong values of §2.7 %s', async (field, values) => {
    const app = await buildTestApp()
    for (const [value, at] of values) {
      const { status, body } = await ask(app, { filter: { [field]: value } })
      expect([status, body.error.code, body.error.param]).toEqual([
        ...[422, 'validation_failed', `filter.${field}${at}`],
      ])
    }
  })
})
