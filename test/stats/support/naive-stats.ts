/**
 * Statistics computed the obvious way over raw calls: no index, no sums by hour, whole numbers of any
 * size. The oracle of the proofs.
 */
import { renderTimestamp } from '../../../src/schemas/timestamp.ts'
import { naiveBucketStartUs } from './naive-buckets.ts'

export const AGGREGATIONS = ['sum', 'avg', 'min', 'max', 'count', 'count_true', 'count_false']
const PERCENTILES = [0, 37.5, 50, 99.9]
export const CALL_METRICS = ['latency_ms', 'call_count', 'error_count']
const TOKEN_METRICS = [
  'input_tokens',
  'output_tokens',
  'total_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'input_audio_tokens',
  'reasoning_tokens',
] as const
const COST_METRICS = ['input_cost', 'output_cost', 'total_cost'] as const
export const USAGE_METRICS = [...TOKEN_METRICS, ...COST_METRICS]

/** Atoms of money in a dollar. */
const DOLLAR = 10n ** 15n
/** Every bucket of the tests is at least as long. */
const STEP_US = 300e6

/** Tokens of one model in one call, as they count. */
export interface Tokens {
  /** null: not known. */
  readonly provider: string | null
  /** null: the client did not tell them. */
  readonly requests: number | null
  readonly input_tokens: number
  /** Input tokens that are paid in full. */
  readonly uncached: number
  readonly output_tokens: number
  readonly total_tokens: number
  readonly cache_read_input_tokens: number
  readonly cache_creation_input_tokens: number
  /** Part of uncached. */
  readonly input_audio_tokens: number
  /** Part of the output. */
  readonly reasoning_tokens: number
}

/** A call that was started and not deleted. */
export interface RawCall {
  readonly id: string
  readonly started_us: number
  /** What came with the end; null while it runs. */
  readonly end: {
    readonly latency_us: number
    readonly exception: string | null
    readonly usage: Readonly<Record<string, Tokens>>
    readonly output_refs: readonly string[]
  } | null
  readonly op_name: string
  readonly trace_id: string
  readonly parent_id: string | null
  readonly thread_id: string | null
  readonly turn_id: string | null
  readonly svc_user_id: string
  readonly svc_run_id: string | null
  readonly end_user_id: string | null
  readonly input_refs: readonly string[]
}

/** Atoms for one token. */
export interface Price {
  readonly input: bigint
  readonly output: bigint
  readonly cacheRead: bigint
  readonly cacheCreation: bigint
}

/** The price of a model of a provider for a call that started then and had so many input tokens; null: none. */
export type FindPrice = (
  model: string,
  provider: string | null,
  startedUs: number,
  inputTokens: number,
) => Price | null

export interface Question {
  /** Absent: as the server chooses. */
  readonly counting?: 'own' | 'reported'
  readonly startUs: number
  readonly endUs: number
  readonly granularity: number
  readonly timezone: string
  readonly filter: Readonly<Record<string, readonly string[] | boolean>>
}

/** Fields of the filter that a call meets by one value. */
const PLAIN_FIELDS = {
  parent_ids: (call: RawCall) => call.parent_id,
  trace_ids: (call: RawCall) => call.trace_id,
  call_ids: (call: RawCall) => call.id,
  thread_ids: (call: RawCall) => call.thread_id,
  turn_ids: (call: RawCall) => call.turn_id,
  svc_user_ids: (call: RawCall) => call.svc_user_id,
  svc_run_ids: (call: RawCall) => call.svc_run_id,
  end_user_ids: (call: RawCall) => call.end_user_id,
} as const
const PATTERN_FIELDS = {
  op_names: (call: RawCall) => [call.op_name],
  input_refs: (call: RawCall) => call.input_refs,
  output_refs: (call: RawCall) => call.end?.output_refs ?? [],
} as const

function matches(pattern: string, value: string): boolean {
  return pattern.endsWith(':*') ? value.startsWith(pattern.slice(0, -1)) : value === pattern
}

/** @param ids - of all calls: one whose parent is not among them is a root */
function isWanted(
  call: RawCall,
  { startUs, endUs, filter }: Question,
  ids: ReadonlySet<string | null>,
): boolean {
  if (call.started_us < startUs || call.started_us >= endUs) return false
  return Object.entries(filter).every(([field, wanted]) => {
    if (typeof wanted === 'boolean') return !wanted || !ids.has(call.parent_id)
    if (wanted.length === 0) return true
    if (field in PATTERN_FIELDS) {
      const values = PATTERN_FIELDS[field as keyof typeof PATTERN_FIELDS](call)
      return wanted.some((pattern) => values.some((value) => matches(pattern, value)))
    }
    const value = PLAIN_FIELDS[field as keyof typeof PLAIN_FIELDS](call)
    return value !== null && wanted.includes(value)
  })
}

/** Starts of all buckets of the window, found by asking again and again. */
function naiveStarts({ startUs, endUs, granularity, timezone }: Question): number[] {
  const starts = new Set<number>()
  const ask = (us: number) => starts.add(naiveBucketStartUs(us, granularity, timezone))
  for (let us = startUs; us < endUs; us += STEP_US) ask(us)
  ask(endUs - 1)
  return [...starts]
}

interface Measured {
  readonly metric: string
  /** One value a row that has one; money in atoms. */
  readonly values: readonly bigint[]
  readonly rows: number
}

function summarize({ metric, values, rows }: Measured): Record<string, number | null> {
  const isMoney = metric.endsWith('_cost')
  const unit = isMoney ? Number(DOLLAR) : 1
  const sorted = values.map(Number).sort((a, b) => a - b)
  const sum = Number(values.reduce((total, value) => total + value, 0n)) / unit
  const isUnknown = isMoney && rows > 0 && values.length === 0
  const scaled = (value: number | undefined) => (value === undefined ? null : value / unit)
  const keys: Record<string, number | null> = {
    [`sum_${metric}`]: isUnknown ? null : sum,
    [`avg_${metric}`]: isUnknown ? null : values.length === 0 ? 0 : sum / values.length,
    [`min_${metric}`]: scaled(sorted[0]),
    [`max_${metric}`]: scaled(sorted.at(-1)),
    [`count_${metric}`]: values.length,
    [`count_true_${metric}`]: sorted.filter((value) => value === unit).length,
    [`count_false_${metric}`]: sorted.filter((value) => value === 0).length,
  }
  for (const percentile of PERCENTILES) {
    const rank = (percentile / 100) * (sorted.length - 1)
    const below = Math.floor(rank)
    const low = sorted[below] as number
    const high = sorted[Math.min(below + 1, sorted.length - 1)] as number
    keys[`p${percentile}_${metric}`] =
      sorted.length === 0 ? null : (low + (high - low) * (rank - below)) / unit
  }
  return keys
}

export function summarizeCalls(rows: readonly RawCall[]) {
  const ended = rows.flatMap(({ end }) => end ?? [])
  const values: Record<string, bigint[]> = {
    latency_ms: ended.map(({ latency_us }) => BigInt(Math.max(0, Math.floor(latency_us / 1000)))),
    call_count: rows.map(() => 1n),
    error_count: rows.map(({ end }) => (end && end.exception !== null ? 1n : 0n)),
  }
  return CALL_METRICS.map((metric) =>
    summarize({ metric, values: values[metric] ?? [], rows: rows.length }),
  )
}

interface UsageRow {
  readonly tokens: Tokens
  readonly price: Price | null
}

function costOf({ tokens, price }: UsageRow, metric: (typeof COST_METRICS)[number]): bigint[] {
  if (price === null) return []
  const input =
    BigInt(tokens.uncached) * price.input +
    BigInt(tokens.cache_read_input_tokens) * price.cacheRead +
    BigInt(tokens.cache_creation_input_tokens) * price.cacheCreation
  const output = BigInt(tokens.output_tokens) * price.output
  if (metric === 'input_cost') return [input]
  return metric === 'output_cost' ? [output] : [input + output]
}

export function summarizeUsage(rows: readonly UsageRow[]) {
  return [
    ...TOKEN_METRICS.map((metric) => ({
      metric,
      values: rows.map(({ tokens }) => BigInt(tokens[metric])),
    })),
    ...COST_METRICS.map((metric) => ({
      metric,
      values: rows.flatMap((row) => costOf(row, metric)),
    })),
  ].map((measured) => summarize({ ...measured, rows: rows.length }))
}

const COUNTED = [...TOKEN_METRICS, 'uncached'] as const
const PICKING = ['op_names', 'call_ids', 'parent_ids', 'input_refs', 'output_refs']

function isOwn({ counting, filter }: Question): boolean {
  if (counting) return counting === 'own'
  const picks = PICKING.some((field) => ((filter[field] ?? []) as readonly string[]).length > 0)
  return !picks && filter.trace_roots_only !== true
}

/** What a call used of a model itself: its report less those of its children; null where nothing is left. */
function ownTokens(calls: readonly RawCall[], call: RawCall, model: string): Tokens | null {
  const report = call.end?.usage[model] as Tokens
  const children = calls
    .filter(({ id, parent_id }) => parent_id === call.id && id !== call.id)
    .flatMap(({ end }) => end?.usage[model] ?? [])
  if (report.requests === null || children.length === 0) return report
  const held = (kind: (typeof COUNTED)[number] | 'requests') =>
    children.reduce((sum, child) => sum + (child[kind] ?? 0), 0)
  const kinds = ['requests', ...TOKEN_METRICS] as const
  if (kinds.some((kind) => (report[kind] as number) < held(kind))) return report
  const taken = COUNTED.map((kind) => [kind, Math.max(0, report[kind] - held(kind))] as const)
  const requests = report.requests - held('requests')
  if (requests === 0 && taken.every(([, left]) => left === 0)) {
    const isNothing = [...kinds, 'uncached' as const].every((kind) => held(kind) === 0)
    return isNothing ? report : null
  }
  return { ...report, ...Object.fromEntries(taken), requests }
}

/** The same calls with what each used itself. */
function toOwn(calls: readonly RawCall[]): RawCall[] {
  return calls.map((call) => {
    if (!call.end) return call
    const models = Object.keys(call.end.usage).flatMap((model) => {
      const tokens = ownTokens(calls, call, model)
      return tokens ? [[model, tokens] as const] : []
    })
    return { ...call, end: { ...call.end, usage: Object.fromEntries(models) } }
  })
}

/** The calls that a question is about, with the usage that counts. */
export function wantedCalls(calls: readonly RawCall[], question: Question): RawCall[] {
  const counted = isOwn(question) ? toOwn(calls) : calls
  const ids = new Set(calls.map(({ id }) => id))
  return counted.filter((call) => isWanted(call, question, ids))
}

export function usageOf(
  model: string,
  { end, started_us }: RawCall,
  findPrice: FindPrice,
): UsageRow[] {
  const tokens = end?.usage[model]
  if (!tokens) return []
  const inputTokens =
    tokens.uncached + tokens.cache_read_input_tokens + tokens.cache_creation_input_tokens
  return [{ tokens, price: findPrice(model, tokens.provider, started_us, inputTokens) }]
}

/** Both lists of buckets, as the API gives them for all metrics. */
export function naiveStats(calls: readonly RawCall[], question: Question, findPrice: FindPrice) {
  const wanted = wantedCalls(calls, question)
  const models = [...new Set(wanted.flatMap(({ end }) => Object.keys(end?.usage ?? {})))].sort()
  const starts = naiveStarts(question)
  const { granularity, timezone } = question
  const byBucket = Map.groupBy(wanted, ({ started_us }) =>
    naiveBucketStartUs(started_us, granularity, timezone),
  )
  const inBucket = (start: number) => byBucket.get(start) ?? []

  return {
    call_buckets: starts.map((start) => {
      const rows = inBucket(start)
      const parts = summarizeCalls(rows)
      return Object.assign({ timestamp: renderTimestamp(start) }, ...parts, { count: rows.length })
    }),
    usage_buckets: starts.flatMap((start) =>
      models.map((model) => {
        const rows = inBucket(start).flatMap((call) => usageOf(model, call, findPrice))
        const head = { timestamp: renderTimestamp(start), model }
        return Object.assign(head, ...summarizeUsage(rows), { count: rows.length })
      }),
    ),
  }
}

/** The body of `/calls/stats` that asks for everything. */
export function toStatsBody(project_id: string, question: Question) {
  const { startUs, endUs, granularity, timezone, filter, counting } = question
  const spec = (metric: string) => ({
    metric,
    aggregations: AGGREGATIONS,
    percentiles: PERCENTILES,
  })
  return {
    project_id,
    start: renderTimestamp(startUs),
    end: renderTimestamp(endUs),
    granularity,
    timezone,
    filter,
    usage_counting: counting ?? null,
    call_metrics: CALL_METRICS.map(spec),
    usage_metrics: USAGE_METRICS.map(spec),
  }
}
