/** What the statistics of every FeedbackStore must be, whatever it stores in: over one filling, for any question. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { resolveFeedbackMetrics } from '../../../src/domain/feedback/feedback-metrics.ts'
import {
  type FeedbackWindow,
  resolveFeedbackWindow,
} from '../../../src/domain/feedback/feedback-sample.ts'
import type { Feedback } from '../../../src/domain/feedback/new-feedback.ts'
import { createScoreGroups, isChosenByIndex } from '../../../src/domain/feedback/score-groups.ts'
import { buildBucketGrid } from '../../../src/domain/stats/buckets.ts'
import { FeedbackAggregateRequest } from '../../../src/schemas/feedback/feedback-stats.ts'
import type { FeedbackMeasure, FeedbackStore } from '../../../src/store/api/feedback/feedback.ts'
import { readCaller } from '../../support/read-caller.ts'
import { feedbackAt, trigger } from '../feedback-fixtures.ts'

const project_id = 'acme/demo'
const CALLER = readCaller()
/** More than two parts of a walk. */
const ROWS = 2200
/** How many have the same time, so that a part ends between equal ones. */
const EQUAL_TIMES = 160
const START_MS = Date.UTC(2026, 2, 28, 20)
const STEP_MS = 40 * 60_000
const TIMES = Math.ceil(ROWS / EQUAL_TIMES)

const TYPES = ['x', 'x.y', 'wandb.runnable.strict', 'größe😀']
const TRIGGERS = [trigger('mon'), trigger('mon', 'v2'), trigger('monday'), trigger('größe😀'), null]
const RUNNABLES = ['strict', 'mild', 'é'].map((name) => `weave:///acme/demo/op/${name}:v1`)
const REFS = ['object/answer:v1', 'agent_turn/t1'].map((end) => `weave:///acme/demo/${end}`)
const PAYLOADS: readonly object[] = [
  { s: 1, ok: true, 'a b': { x: 'yes' }, list: [{ n: 1 }, { n: 2 }, 3] },
  { s: -2.5, ok: false, 'a b': { x: null }, list: [] },
  { s: '7', ok: 1, 'a b': { x: 3 }, list: { n: 5 } },
  { s: null, ok: null, 'a b': [], list: [[{ n: 4 }], { n: '4' }, { n: 0 }] },
  { s: 2 ** 40, 'a b': { x: {} } },
  { s: -0, ok: true, text: 'é "x" \\ \u0000 \ud800', ' ': 1 },
  {},
]
interface Payload {
  readonly s?: unknown
  readonly ok?: unknown
  readonly 'a b'?: { readonly x?: unknown }
  readonly list?: unknown
}
/** What a path finds, by hand. */
const VALUES = {
  s: { type: 'numeric', of: ({ s }: Payload) => [s] },
  ok: { type: 'boolean', of: ({ ok }: Payload) => [ok] },
  '["a b"].x': { type: 'categorical', of: (payload: Payload) => [payload['a b']?.x] },
  'list[*].n': {
    type: 'numeric',
    of: ({ list }: Payload) => (Array.isArray(list) ? list.map((entry) => entry?.n) : []),
  },
} as const
type Path = keyof typeof VALUES

export function makeRows(): Feedback[] {
  const pick = <T>(from: readonly T[], at: number) => from[at % from.length] as T
  const rows = Array.from({ length: ROWS }, (_, at) => {
    const time = new Date(START_MS + Math.floor(at / EQUAL_TIMES) * STEP_MS).toISOString()
    // Ids whose order by bytes is not that by code units, and not that of a language.
    const id = `${pick(['a', 'B', 'é', '\uffee', '😀', '_'], at * 7)}${(at * 7919) % ROWS}`
    const fields = {
      payload: pick(PAYLOADS, at * 5 + (at >> 3)),
      feedback_type: pick(TYPES, at >> 1),
      trigger_ref: pick(TRIGGERS, at >> 2),
      runnable_ref: pick([...RUNNABLES, null], at),
    }
    const scores = {
      ...(at % 3 ? {} : { scorer_tags: ['good', 'é', 'good'].slice(at % 4) }),
      ...(at % 4 ? {} : { scorer_ratings: { _rating_: (at % 5) / 4, tone: at % 7 } }),
      ...(at % 6 ? {} : { span_agent_name: pick(['Ada', ''], at >> 1), span_status_code: 'OK' }),
    }
    const row = feedbackAt(time, id, { ...fields, ...scores })
    return { ...row, weave_ref: pick(REFS, at), created_at_us: row.created_at_us + (at % 2) }
  })
  // At the same time as others, and more than one statement reads.
  const large = ['large1', 'large2', 'large3'].map((id, at) =>
    feedbackAt(new Date(START_MS + STEP_MS).toISOString(), id, {
      payload: { s: at, text: 'x'.repeat(1_800_000) },
      feedback_type: 'large',
    }),
  )
  const other = feedbackAt(new Date(START_MS).toISOString(), 'other', { project_id: 'acme/other' })
  return [...rows, ...large, other]
}

const windows = fc.record({
  start: fc.integer({ min: -1, max: TIMES }),
  length: fc.integer({ min: 0, max: TIMES + 2 }),
  offset_us: fc.constantFrom(0, 0, 1, -1),
})
const DIGEST_OUT = trigger('mon', '').slice(0, -1)
const measures = fc.record({
  window: windows,
  project_id: fc.constantFrom(project_id, project_id, project_id, 'acme/other', 'acme/none'),
  feedback_type: fc.constantFrom(null, null, ...TYPES, 'none', 'large'),
  trigger_ref: fc.constantFrom(null, null, ...TRIGGERS, DIGEST_OUT, trigger('größe😀', '*')),
  granularity: fc.constantFrom(null, 60 * 60, 6 * 60 * 60, 86_400, 1000),
  timezone: fc.constantFrom('UTC', 'Europe/Berlin', 'Asia/Kathmandu'),
  paths: fc.subarray(Object.keys(VALUES) as Path[]),
  percentiles: fc.subarray([0, 37.5, 50, 99.9, 100]),
})
type Question = typeof measures extends fc.Arbitrary<infer T> ? T : never

const isoOf = (us: number) =>
  new Date(Math.floor(us / 1000))
    .toISOString()
    .replace('Z', `${String(us % 1000).padStart(3, '0')}Z`)

function timesOf({ start, length, offset_us }: Question['window']) {
  const start_us = (START_MS + start * STEP_MS) * 1000 + offset_us
  return { start_us, end_us: start_us + length * STEP_MS * 1000 }
}

function toMeasure(question: Question): FeedbackMeasure {
  const { start_us, end_us } = timesOf(question.window)
  const { feedback_type, trigger_ref, granularity, timezone, paths, percentiles } = question
  const asked = { start: isoOf(start_us), end: isoOf(end_us), feedback_type, trigger_ref }
  const metrics = paths.map((json_path) => {
    const value_type = VALUES[json_path].type
    const isNumeric = value_type === 'numeric'
    const some = isNumeric ? (['sum', 'avg', 'min', 'max', 'count'] as const) : []
    return {
      json_path,
      value_type,
      percentiles: isNumeric ? percentiles : [],
      aggregations: value_type === 'boolean' ? (['count_true', 'count_false'] as const) : some,
    }
  })
  const times = { startUs: start_us, endUs: end_us }
  return {
    window: resolveFeedbackWindow({ project_id: question.project_id, ...asked }, 0),
    metrics: resolveFeedbackMetrics(metrics as never),
    startsUs: buildBucketGrid(times, granularity, timezone).startsUs,
  }
}

/** Numbers of a metric among rows. */
function numbersAmong(rows: readonly Feedback[], path: Path): number[] {
  const { type, of } = VALUES[path]
  return rows.flatMap(({ payload_json }) =>
    of(JSON.parse(payload_json)).flatMap((value: unknown) => {
      if (type === 'categorical') return value === undefined || value === null ? [] : [1]
      return typeof value === (type === 'numeric' ? 'number' : 'boolean') ? [Number(value)] : []
    }),
  )
}

function naiveValue(numbers: readonly number[], of: string | number): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  const sum = numbers.reduce((a, b) => a + b, 0)
  if (typeof of === 'number') {
    const place = (of / 100) * (sorted.length - 1)
    const [low = Number.NaN, high = low] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]]
    return low + (high - low) * (place % 1)
  }
  if (of === 'sum') return sum
  if (of === 'avg') return numbers.length === 0 ? 0 : sum / numbers.length
  if (of === 'min') return sorted[0] ?? Number.NaN
  if (of === 'max') return sorted.at(-1) ?? Number.NaN
  if (of === 'count_true') return numbers.filter((number) => number === 1).length
  if (of === 'count_false') return numbers.filter((number) => number === 0).length
  return numbers.length
}

/** The rows of a window, by the words of the contract. */
function rowsOf(rows: readonly Feedback[], window: Partial<FeedbackWindow>): Feedback[] {
  const {
    project_id,
    start_us = 0,
    end_us = 0,
    feedback_type,
    trigger_ref,
    trigger_prefix,
  } = window
  return rows
    .filter((row) => row.project_id === project_id)
    .filter(({ created_at_us: us }) => us >= start_us && us < end_us)
    .filter((row) => feedback_type == null || row.feedback_type === feedback_type)
    .filter((row) => trigger_ref == null || row.trigger_ref === trigger_ref)
    .filter((row) => trigger_prefix == null || row.trigger_ref?.startsWith(trigger_prefix))
}

const aggregates = fc.record({
  window: windows,
  time_bucket_seconds: fc.constantFrom(null, 3600, 100_000),
  group_by: fc.subarray([
    'scorer_id',
    'span_agent_name',
    'span_agent_version',
    'span_status_code',
  ] as const),
  feedback_types: fc.subarray(['x', 'wandb.*', 'größe', 'none'], { maxLength: 2 }),
  scorer_ids: fc.subarray(['strict', 'mi*', 'é'], { maxLength: 2 }),
  monitor_ids: fc.subarray(['mon', 'mond*', 'größe*'], { maxLength: 1 }),
  span_agent_names: fc.subarray(['Ada', ''], { maxLength: 1 }),
  span_types: fc.subarray(['agent_turn'] as const),
  tags: fc.subarray(['é', 'good', 'none'], { maxLength: 2 }),
  rating_min: fc.constantFrom(null, null, 0.5),
  rating_max: fc.constantFrom(null, null, 0.75),
})

/** @param create - an empty store that closes itself when the test ends */
export function describeFeedbackStatsContract(
  name: string,
  create: () => Promise<FeedbackStore>,
): void {
  async function fill() {
    const store = await create()
    const rows = makeRows()
    for (let from = 0; from < rows.length; from += 500) {
      await store.createFeedbackBatch(rows.slice(from, from + 500))
    }
    return { store, rows }
  }

  describe(`${name} keeps the FeedbackStore contract of statistics`, () => {
    it('measures and aggregates as a plain reading of the rows does', async () => {
      const { store, rows } = await fill()
      const measure = async (question: Question) => {
        const asked = toMeasure(question)
        const found = await store.measureFeedback(
          asked,
          readCaller({ project_id: question.project_id }),
        )
        const chosen = rowsOf(rows, asked.window)
        const { startsUs, metrics } = asked
        const { end_us } = asked.window
        const buckets = Array.from(startsUs, (from, at) => {
          const to = startsUs[at + 1] ?? end_us
          return chosen.filter(({ created_at_us: us }) => us >= from && us < to)
        })
        expect([...found.buckets.count]).toEqual(buckets.map(({ length }) => length))
        expect([...found.whole.count]).toEqual([chosen.length])
        const pathOf = new Map(metrics.metrics.map(({ slug }, at) => [slug, question.paths[at]]))
        for (const [at, { metric, of }] of metrics.columns.entries()) {
          const path = pathOf.get(metric) as Path
          const valueAmong = (some: readonly Feedback[]) => naiveValue(numbersAmong(some, path), of)
          expect([...(found.buckets.values[at] ?? [])]).toEqual(buckets.map(valueAmong))
          expect([...(found.whole.values[at] ?? [])]).toEqual([valueAmong(chosen)])
          expect(found.counts[metric]).toBe(numbersAmong(chosen, path).length)
        }
      }
      await fc.assert(fc.asyncProperty(measures, measure), { numRuns: 15 })
      await fc.assert(
        fc.asyncProperty(aggregates, async ({ window, ...fields }) => {
          const { start_us, end_us } = timesOf({ ...window, offset_us: 0 })
          const times = { after_ms: start_us / 1000, before_ms: end_us / 1000 }
          const asked = FeedbackAggregateRequest.parse({ project_id, ...times, ...fields })
          const groups = createScoreGroups(asked)
          for (const row of rowsOf(rows, { project_id, start_us, end_us })) {
            if (isChosenByIndex(row, asked)) groups.add(row)
          }
          expect(await store.aggregateFeedback(asked, CALLER)).toEqual(groups.buckets())
        }),
        { numRuns: 15 },
      )
    })
  })
}
