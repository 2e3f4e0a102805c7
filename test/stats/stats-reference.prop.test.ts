import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { renderTimestamp } from '../../src/schemas/timestamp.ts'
import { buildTestApp } from '../support/build-test-app.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { naiveBucketStartUs } from './support/naive-buckets.ts'
import { URL } from './support/stats-fixtures.ts'

const BASE_US = Date.UTC(2026, 2, 7) * 1000
const HOUR_US = 3600e6
const MODELS = {
  'gpt-4o': [2.5, 10],
  'claude-3-5-sonnet-20241022': [3, 15],
  mystery: null,
} as const
type Model = keyof typeof MODELS
const PERCENTILES = [0, 37.5, 50, 99.9]
const AGGREGATIONS = ['sum', 'avg', 'min', 'max', 'count', 'count_true', 'count_false']

const call = fc.record({
  started_us: fc.integer({ min: 0, max: 72 * 3600 }).map((s) => BASE_US + s * 1e6 + (s % 7)),
  latency_us: fc.option(fc.integer({ min: -1e6, max: 9e6 }), { freq: 4 }),
  exception: fc.constantFrom(null, null, 'Error'),
  op_name: fc.constantFrom('a', 'b', 'b:v1'),
  parent_id: fc.constantFrom(null, 'p'),
  thread_id: fc.constantFrom(null, 't1', 't2'),
  usage: fc.dictionary(
    fc.constantFrom(...(Object.keys(MODELS) as Model[])),
    fc.record({
      input_tokens: fc.integer({ min: 0, max: 3 }).map((n) => n ** 9),
      output_tokens: fc.integer({ min: 0, max: 2 }),
    }),
    { maxKeys: 3, noNullPrototype: true },
  ),
})
type Call = (typeof call extends fc.Arbitrary<infer T> ? T : never) & {
  usage: Record<string, Tokens>
}
interface Tokens {
  readonly input_tokens: number
  readonly output_tokens: number
}

const question = fc.record({
  startUs: fc.integer({ min: 0, max: 60 }).map((h) => BASE_US + h * HOUR_US + 11),
  rangeUs: fc.integer({ min: 1, max: 60 * 60 }).map((minutes) => minutes * 60e6),
  granularity: fc.constantFrom(600, 3600, 7200, 21_600, 86_400, 2 * 86_400, 7 * 86_400, 5000),
  timezone: fc.constantFrom('UTC', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu'),
  filter: fc.record(
    {
      op_names: fc.constantFrom(['a'], ['b:*'], ['b:*', 'a'], []),
      thread_ids: fc.constantFrom(['t1'], ['t1', 't2']),
      trace_roots_only: fc.boolean(),
    },
    { requiredKeys: [] },
  ),
})
type Question = typeof question extends fc.Arbitrary<infer T> ? T : never

/** Values of a metric to keys, the obvious way. `rows` says how many rows the bucket has. */
function summarize(metric: string, values: readonly number[], rows: number) {
  const sorted = values.toSorted((a, b) => a - b)
  const sum = values.reduce((total, value) => total + value, 0)
  const isUnknown = metric === 'total_cost' && rows > 0 && values.length === 0
  const keys: Record<string, number | null> = {
    [`sum_${metric}`]: isUnknown ? null : sum,
    [`avg_${metric}`]: isUnknown ? null : values.length === 0 ? 0 : sum / values.length,
    [`min_${metric}`]: sorted[0] ?? null,
    [`max_${metric}`]: sorted.at(-1) ?? null,
    [`count_${metric}`]: values.length,
    [`count_true_${metric}`]: values.filter((value) => value === 1).length,
    [`count_false_${metric}`]: values.filter((value) => value === 0).length,
  }
  for (const percentile of PERCENTILES) {
    const rank = (percentile / 100) * (sorted.length - 1)
    const low = sorted[Math.floor(rank)] ?? 0
    const high = sorted[Math.ceil(rank)] ?? 0
    const value = low + (high - low) * (rank - Math.floor(rank))
    keys[`p${percentile}_${metric}`] = sorted.length === 0 ? null : value
  }
  return keys
}

function isWanted(call: Call, { startUs, rangeUs, filter }: Question): boolean {
  const { op_names = [], thread_ids = [], trace_roots_only } = filter
  const matchesOp = op_names.some((op) =>
    op.endsWith(':*') ? call.op_name.startsWith(op.slice(0, -1)) : call.op_name === op,
  )
  return (
    call.started_us >= startUs &&
    call.started_us < startUs + rangeUs &&
    (op_names.length === 0 || matchesOp) &&
    (thread_ids.length === 0 || thread_ids.some((id) => id === call.thread_id)) &&
    (!trace_roots_only || call.parent_id === null)
  )
}

/** Starts of all buckets of the window, found by asking every minute. */
function naiveStarts({ startUs, rangeUs, granularity, timezone }: Question): number[] {
  const starts = new Set<number>()
  const endUs = startUs + rangeUs
  for (let us = startUs; us < endUs; us += 60e6) {
    starts.add(naiveBucketStartUs(us, granularity, timezone))
  }
  starts.add(naiveBucketStartUs(endUs - 1, granularity, timezone))
  return [...starts]
}

function costOf(model: Model, { input_tokens, output_tokens }: Tokens): number[] {
  const price = MODELS[model]
  return price ? [(input_tokens * price[0] + output_tokens * price[1]) / 1e6] : []
}

function naiveStats(calls: readonly Call[], question: Question) {
  const wanted = calls.filter((call) => isWanted(call, question))
  const used = (model: string) =>
    wanted.filter((call) => call.latency_us !== null && call.usage[model] !== undefined)
  const models = (Object.keys(MODELS) as Model[]).filter((model) => used(model).length > 0).sort()
  const starts = naiveStarts(question)
  const inBucket = (start: number) => (call: Call) =>
    naiveBucketStartUs(call.started_us, question.granularity, question.timezone) === start
  return {
    call_buckets: starts.map((start) => {
      const rows = wanted.filter(inBucket(start))
      const latencies = rows.flatMap(({ latency_us }) =>
        latency_us === null ? [] : [Math.max(0, Math.floor(latency_us / 1000))],
      )
      const errors = rows.map(({ exception, latency_us }) =>
        exception !== null && latency_us !== null ? 1 : 0,
      )
      return {
        timestamp: renderTimestamp(start),
        ...summarize('latency_ms', latencies, rows.length),
        ...summarize(
          'call_count',
          rows.map(() => 1),
          rows.length,
        ),
        ...summarize('error_count', errors, rows.length),
        count: rows.length,
      }
    }),
    usage_buckets: starts.flatMap((start) =>
      models.map((model) => {
        const rows = used(model)
          .filter(inBucket(start))
          .map(({ usage }) => usage[model] as Tokens)
        return {
          timestamp: renderTimestamp(start),
          model,
          ...summarize(
            'input_tokens',
            rows.map(({ input_tokens }) => input_tokens),
            rows.length,
          ),
          ...summarize(
            'total_cost',
            rows.flatMap((tokens) => costOf(model, tokens)),
            rows.length,
          ),
          count: rows.length,
        }
      }),
    ),
  }
}

/** Equal, money up to the last digits that adding doubles one by one loses. */
function expectSame(found: Record<string, unknown>[], expected: Record<string, unknown>[]) {
  expect(found.map(Object.keys)).toEqual(expected.map(Object.keys))
  const round = (buckets: Record<string, unknown>[]) =>
    buckets.map((bucket) =>
      Object.entries(bucket).map(([key, value]) => [
        key,
        typeof value === 'number' ? Number(value.toPrecision(11)) : value,
      ]),
    )
  expect(round(found)).toEqual(round(expected))
}

describe('POST /calls/stats', () => {
  it('equals the naive statistics of the raw calls', async () => {
    const app = await buildTestApp({ dataDir: makeTempDir() })
    let run = 0
    const spec = (metric: string) => ({
      metric,
      aggregations: AGGREGATIONS,
      percentiles: PERCENTILES,
    })
    const property = fc.asyncProperty(
      fc.array(call, { maxLength: 25 }) as fc.Arbitrary<Call[]>,
      question,
      async (calls, asked) => {
        run += 1
        const project_id = `acme/run-${run}`
        await Promise.all(calls.map((call, index) => store(app, project_id, `c${index}`, call)))
        const { startUs, rangeUs, ...rest } = asked
        const { status, body } = await app.post(URL, {
          project_id,
          start: renderTimestamp(startUs),
          end: renderTimestamp(startUs + rangeUs),
          ...rest,
          call_metrics: ['latency_ms', 'call_count', 'error_count'].map(spec),
          usage_metrics: ['input_tokens', 'total_cost'].map(spec),
        })
        expect(status).toBe(200)
        const expected = naiveStats(calls, asked)
        expectSame(body.call_buckets, expected.call_buckets)
        expectSame(body.usage_buckets, expected.usage_buckets)
      },
    )
    await fc.assert(property, { numRuns: 25 })
  })
})

async function store(
  app: Awaited<ReturnType<typeof buildTestApp>>,
  project_id: string,
  id: string,
  { started_us, latency_us, exception, usage, ...fields }: Call,
): Promise<void> {
  const started_at = renderTimestamp(started_us)
  const start = { project_id, id, started_at, attributes: {}, inputs: {}, ...fields }
  const end =
    latency_us === null
      ? null
      : {
          project_id,
          id,
          ended_at: renderTimestamp(started_us + latency_us),
          exception,
          summary: { usage },
        }
  const answers = await Promise.all([
    ...(end ? [app.post('/call/end', { end })] : []),
    app.post('/call/start', { start }),
  ])
  for (const { status } of answers) expect(status).toBe(200)
}
