/** What bench/stats.ts asks: over HTTP, of ClickHouse's engine, and as plain SQL of SQLite. */
import { DAY_US, DAYS, FIRST_US, PROJECT } from './data.ts'

/** Percentiles asked for in every question. */
const PERCENTILES = [50, 95, 99]

/** Buckets of a length that does not divide a day are aligned to the epoch. The second one holds all calls. */
const ONE_BUCKET_S = FIRST_US / 1e6 - 1

export interface Question {
  readonly name: string
  /** The goal in milliseconds at 1 and 10 million calls; null if none was set. */
  readonly goalMs: readonly [number | null, number | null]
  readonly startUs: number
  readonly endUs: number
  readonly granularityS: number
  readonly timezone: string
  readonly filter: Readonly<Record<string, unknown>>
  /** The filter as a condition that both SQL dialects know. */
  readonly where: string
  /** Default: each token is counted once. */
  readonly counting?: 'own' | 'reported'
}

const WHOLE = {
  startUs: FIRST_US,
  endUs: FIRST_US + DAYS * DAY_US,
  granularityS: 3600,
  timezone: 'UTC',
  filter: {},
  where: '',
}

/** A thread in the middle of the month, and its day. */
function threadQuestion(calls: number): Question {
  const thread = `thread-${Math.floor(calls / 2 / 160)}`
  const middleUs = FIRST_US + (DAYS / 2) * DAY_US
  return {
    ...WHOLE,
    name: 'thread id over 24 h, 1 h',
    goalMs: [150, 150],
    startUs: middleUs - DAY_US / 2,
    endUs: middleUs + DAY_US / 2,
    filter: { thread_ids: [thread] },
    where: `AND thread_id = '${thread}'`,
  }
}

/** The questions over a database of so many calls. */
export function listQuestions(calls: number): Question[] {
  return [
    { ...WHOLE, name: '30 d by 1 h', goalMs: [25, 75] },
    { ...WHOLE, name: 'tokens as reported', goalMs: [25, 75], counting: 'reported' },
    {
      ...WHOLE,
      name: 'filtered by one op',
      goalMs: [120, 120],
      filter: { op_names: ['op-3'] },
      where: "AND op_name = 'op-3'",
    },
    {
      ...WHOLE,
      name: 'trace roots only',
      goalMs: [120, 120],
      filter: { trace_roots_only: true },
      where: 'AND is_root = 1',
    },
    { ...WHOLE, name: 'in Asia/Kolkata', goalMs: [120, 120], timezone: 'Asia/Kolkata' },
    { ...WHOLE, name: 'in America/New_York', goalMs: [120, 120], timezone: 'America/New_York' },
    { ...WHOLE, name: '5-minute buckets', goalMs: [250, 250], granularityS: 300 },
    {
      ...WHOLE,
      name: 'one 30-day bucket',
      goalMs: [250, 250],
      granularityS: ONE_BUCKET_S,
    },
    threadQuestion(calls),
  ]
}

/** The body of `/calls/stats`: count, average, exact percentiles and errors; tokens and cost by model. */
export function toBody(question: Omit<Question, 'name' | 'goalMs' | 'where'>): unknown {
  const { startUs, endUs, granularityS, timezone, filter, counting = null } = question
  return {
    project_id: PROJECT,
    usage_counting: counting,
    start: new Date(startUs / 1000).toISOString(),
    end: new Date(endUs / 1000).toISOString(),
    granularity: granularityS,
    timezone,
    filter,
    call_metrics: [
      { metric: 'latency_ms', aggregations: ['avg'], percentiles: PERCENTILES },
      { metric: 'call_count' },
      { metric: 'error_count' },
    ],
    usage_metrics: [
      { metric: 'input_tokens' },
      { metric: 'output_tokens' },
      { metric: 'total_tokens' },
      { metric: 'total_cost' },
    ],
  }
}

/** What all calls are grouped by, by name of the case. */
export const GROUPINGS: readonly (readonly [
  name: string,
  group_by: Readonly<Record<string, unknown>>,
])[] = [
  ['op_name', { field: 'op_name' }],
  ['model', { field: 'model' }],
  ['provider', { field: 'provider' }],
  ['status', { field: 'status' }],
  ['end_user_id, 5,000 users', { field: 'end_user_id' }],
  ['end_user_id with times', { field: 'end_user_id', times: true }],
  ['error_type, from the rows of 5 % failed calls', { field: 'error_type' }],
]

/** The body that asks for the ten groups with the largest cost in all of the time. */
export function toGroupsBody(group_by: Readonly<Record<string, unknown>>): unknown {
  return {
    project_id: PROJECT,
    start: new Date(WHOLE.startUs / 1000).toISOString(),
    end: new Date(WHOLE.endUs / 1000).toISOString(),
    call_metrics: [
      { metric: 'call_count' },
      { metric: 'error_count' },
      { metric: 'latency_ms', aggregations: ['avg'] },
    ],
    usage_metrics: [{ metric: 'total_tokens' }, { metric: 'total_cost' }],
    group_by: { sort_by: { field: 'sum_total_cost' }, ...group_by },
  }
}

function clickHouseBucket({ granularityS, timezone }: Question): string {
  if (granularityS === ONE_BUCKET_S) return 'toUnixTimestamp(min(started_at))'
  const unit = granularityS === 3600 ? '1 HOUR' : `${granularityS / 60} MINUTE`
  return `toUnixTimestamp(toStartOfInterval(started_at, INTERVAL ${unit}, '${timezone}'))`
}

/** The same of ClickHouse's engine: two statements over the table that bench/stats/chdb.ts loads. */
export function toClickHouse(question: Question): readonly string[] {
  const { startUs, endUs, granularityS, where } = question
  const bucket = clickHouseBucket(question)
  const isOne = granularityS === ONE_BUCKET_S
  const window = `
WHERE project_id = '${PROJECT}'
  AND started_at >= fromUnixTimestamp64Micro(${startUs})
  AND started_at < fromUnixTimestamp64Micro(${endUs}) ${where}`
  const group = (more: string) => (isOne ? more : `bucket${more === '' ? '' : `, ${more}`}`)
  return [
    `
SELECT ${bucket} AS bucket, count() AS count, avg(latency_ms) AS avg_latency,
  quantilesExactInclusive(0.5, 0.95, 0.99)(latency_ms) AS percentiles, sum(is_error) AS errors
FROM calls ${window}
${isOne ? '' : 'GROUP BY bucket ORDER BY bucket'}`,
    `
SELECT ${bucket} AS bucket, model, sum(input_tokens) AS input, sum(output_tokens) AS output,
  sum(total_tokens) AS total,
  sum(toDecimal128(input_tokens, 0) * price.1 + toDecimal128(output_tokens, 0) * price.2) AS cost
FROM (
  SELECT *, (toDecimal128(0.0000025, 15), toDecimal128(0.00001, 15)) AS price
  FROM calls ${window} AND model <> ''
)
GROUP BY ${group('model')} ORDER BY ${group('model')}`,
  ]
}

/** The same as plain SQL over the rows of SQLite, without the costs. */
export function toPlainSql({ startUs, endUs, granularityS }: Question): readonly string[] {
  const bucket = `started_at_us / ${granularityS * 1e6}`
  const window = `
WHERE project_key = (SELECT project_key FROM projects WHERE project_id = '${PROJECT}')
  AND started_at_us >= ${startUs} AND started_at_us < ${endUs}
  AND deleted_at_us IS NULL`
  const latency = '(ended_at_us - started_at_us) / 1000'
  return [
    `
SELECT ${bucket} AS bucket, count(*), avg(${latency}), percentile(${latency}, 50),
  percentile(${latency}, 95), percentile(${latency}, 99), sum(exception IS NOT NULL)
FROM calls ${window}
GROUP BY bucket`,
    `
SELECT ${bucket} AS bucket, model, sum(input_tokens), sum(output_tokens), sum(total_tokens)
FROM calls CROSS JOIN call_usage ON call_usage.call_key = calls.call_key ${window}
GROUP BY bucket, model`,
  ]
}
