/** What queries of every FeedbackStore must find among more rows than one statement reads. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FEEDBACK_FIELDS } from '../../../src/domain/feedback/feedback-view.ts'
import type { Feedback } from '../../../src/domain/feedback/new-feedback.ts'
import { resolveRowQuery } from '../../../src/domain/query/row-query.ts'
import { renderTimestamp } from '../../../src/schemas/timestamp.ts'
import type { FeedbackStore } from '../../../src/store/api/feedback/feedback.ts'
import { readCaller } from '../../support/read-caller.ts'
import { makeRows } from './feedback-stats-contract.ts'

const PROJECT = 'acme/demo'
const field = (name: string) => ({ $getField: name })
const among = (name: string, values: readonly string[]) => ({
  query: { $expr: { $in: [field(name), values.map((value) => ({ $literal: value }))] } },
})
const is = (name: string, value: unknown) => ({
  query: { $expr: { $eq: [field(name), { $literal: value }] } },
})
const sorted = (...names: string[]) => ({
  sort_by: names.map((name) => {
    const [field = '', direction = 'asc'] = name.split(' ')
    return { field, direction: direction as 'asc' | 'desc' }
  }),
})
const payloadOf = (row: Feedback) => JSON.parse(row.payload_json)

type Order = (one: Feedback, other: Feedback) => number
const byBytes = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other))
const byTime: Order = (one, other) =>
  one.created_at_us - other.created_at_us || byBytes(one.id, other.id)
/** Numbers first, then texts, then others, in either direction. */
const byScore: Order = (one, other) => {
  const [s, t] = [payloadOf(one).s, payloadOf(other).s]
  const rank = (value: unknown) => ['number', 'string'].indexOf(typeof value) >>> 0
  return rank(s) - rank(t) || (typeof s === 'number' ? t - s : 0) || byTime(one, other)
}

interface Case {
  readonly request: object
  readonly isWanted: (row: Feedback) => boolean
  readonly order?: Order
}

function casesOf(rows: readonly Feedback[]): Case[] {
  const some = rows.filter((_, at) => at % 100 === 7).map(({ id }) => id)
  const all = () => true
  return [
    { request: {}, isWanted: all },
    { request: { offset: 990, limit: 20 }, isWanted: all },
    { request: among('id', [...some, 'none', 'other']), isWanted: ({ id }) => some.includes(id) },
    { request: is('id', some[3]), isWanted: ({ id }) => id === some[3] },
    {
      request: { ...is('weave_ref', 'weave:///acme/demo/agent_turn/t1'), limit: 1000 },
      isWanted: ({ weave_ref }) => weave_ref.endsWith('agent_turn/t1'),
    },
    { request: is('payload.ok', false), isWanted: (row) => payloadOf(row).ok === false },
    { request: is('feedback_type', 'x.y'), isWanted: (row) => row.feedback_type === 'x.y' },
    { request: is('trigger_ref', null), isWanted: ({ trigger_ref }) => trigger_ref === null },
    { request: sorted('payload.s desc'), isWanted: all, order: byScore },
    { request: { ...sorted('payload.s desc'), limit: 30 }, isWanted: all, order: byScore },
    {
      request: { ...sorted('created_at desc', 'id desc'), offset: 5, limit: 1100 },
      isWanted: all,
      order: (one, other) =>
        other.created_at_us - one.created_at_us || (one.id < other.id ? 1 : -1),
    },
  ]
}

interface Condition {
  readonly expr: object
  readonly isMet: (row: Feedback) => boolean
}

const within = ([from, to]: readonly [Feedback, Feedback]): Condition => {
  const literal = (row: Feedback) => ({ $literal: renderTimestamp(row.created_at_us) })
  return {
    expr: {
      $and: [
        { $gte: [field('created_at'), literal(from)] },
        { $gt: [literal(to), field('created_at')] },
      ],
    },
    isMet: ({ created_at_us }) =>
      created_at_us >= from.created_at_us && created_at_us < to.created_at_us,
  }
}

/** Conditions that narrow the walk, and some that do not. */
function conditions(rows: readonly Feedback[]): fc.Arbitrary<Condition> {
  const row = fc.constantFrom(...rows)
  const text = (name: 'id' | 'weave_ref' | 'feedback_type') =>
    fc.array(row, { minLength: 1, maxLength: 3 }).map((some): Condition => {
      const values = some.map((one) => one[name])
      return { expr: among(name, values).query.$expr, isMet: (one) => values.includes(one[name]) }
    })
  const isOk: Condition = {
    expr: is('payload.ok', true).query.$expr,
    isMet: (one) => payloadOf(one).ok === true,
  }
  return fc
    .array(
      fc.oneof(
        text('id'),
        text('weave_ref'),
        text('feedback_type'),
        fc.tuple(row, row).map(within),
        fc.constant(isOk),
      ),
      { maxLength: 3 },
    )
    .map((all) => ({
      expr: { $and: all.map(({ expr }) => expr) },
      isMet: (one) => all.every(({ isMet }) => isMet(one)),
    }))
}

const newestFirst: Order = (one, other) => other.created_at_us - one.created_at_us
const byType: Order = (one, other) =>
  Number(one.feedback_type > other.feedback_type) - Number(one.feedback_type < other.feedback_type)
/** Orders by their names in a request; what is equal keeps the order of time. */
const ORDERS: readonly (readonly [names: string[], order: Order])[] = [
  [[], byTime],
  [['created_at'], byTime],
  [['created_at desc'], (one, other) => newestFirst(one, other) || byTime(one, other)],
  [
    ['created_at desc', 'feedback_type'],
    (one, other) => newestFirst(one, other) || byType(one, other) || byTime(one, other),
  ],
  [
    ['feedback_type', 'created_at desc'],
    (one, other) => byType(one, other) || newestFirst(one, other) || byTime(one, other),
  ],
]

/** @param create - an empty store that closes itself when the test ends */
export function describeFeedbackQueryContract(
  name: string,
  create: () => Promise<FeedbackStore>,
): void {
  describe(`${name} keeps the FeedbackStore contract of queries`, () => {
    it('finds as a plain reading of many rows does', async () => {
      const store = await create()
      const made = makeRows()
      await store.createFeedbackBatch(made)
      const rows = made.filter(({ project_id }) => project_id === PROJECT).sort(byTime)
      for (const { request, isWanted, order = byTime } of casesOf(rows)) {
        const { offset = 0, limit = 10_000 } = request as { offset?: number; limit?: number }
        const wanted = rows
          .filter(isWanted)
          .sort(order)
          .slice(offset, offset + limit)
        const query = resolveRowQuery({ fields: ['id', 'payload.s'], ...request }, FEEDBACK_FIELDS)
        const found = await store.queryFeedback(PROJECT, query, readCaller())
        const told = found.rows.map((text) => JSON.parse(text))
        expect([request, told.map(({ id }) => id)]).toEqual([request, wanted.map(({ id }) => id)])
        const scores = told.map((row) => row['payload.s'] ?? null)
        expect(scores).toEqual(wanted.map((row) => payloadOf(row).s ?? null))
        const counting = resolveRowQuery({ ...request, fields: ['count(*)'] }, FEEDBACK_FIELDS)
        const counted = await store.queryFeedback(PROJECT, counting, readCaller())
        expect([request, counted.count]).toEqual([request, rows.filter(isWanted).length])
      }
    })

    it('finds the same whichever index a condition and an order lead to', async () => {
      const store = await create()
      const made = makeRows()
      await store.createFeedbackBatch(made)
      const rows = made.filter(({ project_id }) => project_id === PROJECT).sort(byTime)
      const limit = fc.oneof(fc.constant(10_000), fc.integer({ min: 1, max: 200 }))
      const offset = fc.oneof(fc.constant(0), fc.nat(1200))
      const ask = async (
        { expr, isMet }: Condition,
        [names, order]: (typeof ORDERS)[number],
        page: { readonly offset: number; readonly limit: number },
      ) => {
        const wanted = rows.filter(isMet).sort(order)
        const request = { fields: ['id'], query: { $expr: expr }, ...sorted(...names), ...page }
        const query = resolveRowQuery(request, FEEDBACK_FIELDS)
        const found = await store.queryFeedback(PROJECT, query, readCaller())
        expect(found.rows.map((text) => JSON.parse(text).id)).toEqual(
          wanted.slice(page.offset, page.offset + page.limit).map(({ id }) => id),
        )
      }
      const property = fc.asyncProperty(
        conditions(rows),
        fc.constantFrom(...ORDERS),
        fc.record({ offset, limit }),
        ask,
      )
      await fc.assert(property, { numRuns: 60 })
    })
  })
}
