/** Groups, their filters and their statistics agree with naive sums over random spans. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AgentSpan, toAgentSpan } from '../../src/domain/agents/agent-span.ts'
import { createHistogram } from '../../src/domain/agents/groups/histogram.ts'
import { createSpanGroups, resolveGrouping } from '../../src/domain/agents/groups/span-groups.ts'
import { resolveSpanStats } from '../../src/domain/agents/groups/span-stats.ts'
import { createSpanStats } from '../../src/domain/agents/groups/stats-rows.ts'
import type { CallTexts } from '../../src/domain/calls/call-view.ts'
import { AgentSpanStatsRequest } from '../../src/schemas/agents/agent-stats.ts'

const S = 1_000_000

interface Plain {
  readonly second: number
  readonly talk: string | null
  readonly score: number | null
}

const spans = fc
  .array(
    fc.record<Plain>({
      second: fc.nat(39),
      talk: fc.constantFrom('a', 'b', 'c', null),
      score: fc.option(fc.integer({ min: -20, max: 20 }).map((n) => n / 4)),
    }),
    { maxLength: 40 },
  )
  .map((list) => list.toSorted((left, right) => left.second - right.second))

function toSpan({ second, talk, score }: Plain, number: number): AgentSpan {
  const attributes = score === null ? {} : { score }
  const call = { id: `s${number}`, trace_id: 't', thread_id: talk, ended_at_us: null }
  const otel_dump_json = JSON.stringify({ name: 's', attributes })
  const times = { started_at_us: second * S, otel_dump_json }
  return toAgentSpan({ ...call, ...times } as CallTexts) as AgentSpan
}

const SCORE = { source: 'custom_attrs_float', key: 'score' } as const
const talks = [{ source: 'field', key: 'conversation_id' }] as const
const bounds = fc
  .tuple(fc.integer({ min: -10, max: 20 }), fc.nat(20))
  .map(([min, more]) => ({ min, max: min + more }))

const sum = (list: readonly Plain[]) => list.reduce((total, { score }) => total + (score ?? 0), 0)
const groupsOf = (list: readonly Plain[]) => Map.groupBy(list, ({ talk }) => talk)

/** The spans of conversations whose sum of scores is in a range. */
function qualified(list: readonly Plain[], { min, max }: { min: number; max: number }): Plain[] {
  const groups = groupsOf(list)
  return list.filter(({ talk }) => {
    const total = sum(groups.get(talk) ?? [])
    return total >= min && total <= max
  })
}

const filterOf = (range: { min: number; max: number }) => ({
  measure: { alias: 'x', aggregation: 'sum' as const, value: SCORE },
  ...range,
})

function measure(list: readonly Plain[], request: object) {
  const body = AgentSpanStatsRequest.parse({
    project_id: 'a/b',
    start: '1970-01-01T00:00:00Z',
    end: '1970-01-01T00:00:40Z',
    ...request,
  })
  const window = { startUs: 0, endUs: 40 * S }
  const stats = createSpanStats(resolveSpanStats(body, window, 50))
  for (const [number, plain] of list.entries()) stats.add(toSpan(plain, number))
  return stats.result().rows
}

describe('groups of spans', () => {
  it('are listed when their measure is in the range, with as many values as spans', () => {
    fc.assert(
      fc.property(spans, bounds, fc.integer({ min: 1, max: 8 }), (list, range, bins) => {
        const distribution = { alias: 'd', value: SCORE, bins, top_n: 1 }
        const request = { group_filters: [filterOf(range)], group_distributions: [distribution] }
        const grouping = resolveGrouping(
          { ...request, group_by: [...talks], measures: null, sort_by: null, offset: 0, limit: 9 },
          null,
          9,
        )
        const groups = createSpanGroups(grouping)
        for (const [number, plain] of list.entries()) groups.add(toSpan(plain, number))
        const { groups: found, total_count } = groups.result()
        const expected = groupsOf(qualified(list, range))
        expect(total_count).toBe(expected.size)
        for (const { group_keys, distributions } of found) {
          const own = expected.get(group_keys.conversation_id as string | null) ?? []
          const scores = own.flatMap(({ score }) => score ?? [])
          expect(distributions.d).toMatchObject({
            total_count: own.length,
            present_count: scores.length,
            missing_count: own.length - scores.length,
          })
          for (const bin of distributions.d?.bins ?? []) {
            const isLast = bin.index === (distributions.d?.bins.length ?? 0) - 1
            const inside = (score: number) =>
              score >= bin.min && (score < bin.max || (isLast && score <= bin.max))
            expect(bin.count).toBe(scores.filter(inside).length)
          }
        }
      }),
    )
  })
})

describe('statistics of spans', () => {
  it('by time count the spans of groups whose measure is in the range', () => {
    fc.assert(
      fc.property(spans, bounds, (list, range) => {
        const metric = { alias: 's', value: SCORE, value_type: 'number' }
        const metrics = [{ ...metric, aggregations: ['sum', 'count'] }]
        const rows = measure(list, { granularity: 10, metrics, group_filters: [filterOf(range)] })
        const counted = qualified(list, range)
        for (const [index, row] of rows.entries()) {
          const own = counted.filter(({ second }) => Math.floor(second / 10) === index)
          expect(row).toMatchObject({
            sum_s: sum(own),
            count_s: own.filter(({ score }) => score !== null).length,
          })
        }
      }),
    )
  })

  it('by a number count each value between the bounds in the one range that includes it', () => {
    fc.assert(
      fc.property(spans, bounds, fc.integer({ min: 1, max: 9 }), (list, range, bins) => {
        const bucket_by = { type: 'number', value: SCORE, bins, ...range }
        const rows = measure(list, { bucket_by })
        const scores = list.flatMap(({ score }) => score ?? [])
        const inside = scores.filter((score) => score >= range.min && score <= range.max)
        for (const row of rows) {
          const [min, max] = [row.bucket_min as number, row.bucket_max as number]
          const isLast = row.bucket_index === rows.length - 1
          const own = inside.filter(
            (score) => score >= min && (isLast ? score <= max : score < max),
          )
          expect(row.count).toBe(own.length)
        }
        expect(rows.length > 0).toBe(scores.length > 0)
      }),
    )
  })

  it('by the measure of groups count each group once', () => {
    fc.assert(
      fc.property(spans, fc.integer({ min: 1, max: 9 }), (list, bins) => {
        const bucket = { type: 'number', group_by: talks, bins }
        const rows = measure(list, {
          bucket_by: { ...bucket, measure: filterOf({ min: 0, max: 0 }).measure },
        })
        const sums = [...groupsOf(list).values()].map(sum)
        expect(rows.reduce((total, row) => total + Number(row.count), 0)).toBe(sums.length)
        if (sums.length === 0) return
        expect([rows[0]?.bucket_min, rows.at(-1)?.bucket_max]).toEqual([
          Math.min(...sums),
          Math.max(...sums),
        ])
      }),
    )
  })
})

it('bins of any two numbers include each number between them in the bin that is found', () => {
  const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0)
  fc.assert(
    fc.property(number, number, number, fc.integer({ min: 1, max: 200 }), (a, b, c, bins) => {
      const [low, value, high] = [a, b, c].sort((x, y) => x - y) as [number, number, number]
      const histogram = createHistogram(low, high, bins)
      const index = histogram.indexOf(value)
      expect(index >= 0 && index < histogram.size).toBe(true)
      expect(histogram.min(index)).toBeLessThanOrEqual(value)
      const isLast = index === histogram.size - 1
      expect(isLast ? value <= histogram.max(index) : value < histogram.max(index)).toBe(true)
      expect([histogram.min(0), histogram.max(histogram.size - 1)]).toEqual([low, high])
    }),
  )
})
