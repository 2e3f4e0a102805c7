/** Normalizes the tokens of a span to the form of `summary.usage`. Pure. */
import { isObject } from '../json/is-object.ts'
import { costFields, readReportedCost } from '../usage/reported-cost.ts'
import { readServiceTier } from '../usage/usage.ts'
import { readReport, type TokenCounts } from '../usage/usage-report.ts'
import { COUNTS_INSIDE, COUNTS_SEPARATELY } from '../usage/usage-reporter.ts'
import type { SpanReader } from './span-reader.ts'

type Json = Readonly<Record<string, unknown>>

/** What one span reports; input includes what a cache had or took, output includes reasoning. */
export interface SpanUsage {
  readonly requests: 1
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
  readonly prompt_tokens_details?: {
    readonly cached_tokens?: number
    readonly audio_tokens?: number
  }
  readonly cache_creation_input_tokens?: number
  /** Where some are cached for an hour. */
  readonly cache_creation?: { readonly ephemeral_1h_input_tokens: number }
  readonly completion_tokens_details?: {
    readonly reasoning_tokens?: number
    readonly audio_tokens?: number
  }
  /** As the span has it, which need not be an amount. */
  readonly cost?: unknown
  readonly service_tier?: string
}

/**
 * The usage that a span reports, or null where it reports none. A missing count is none, a zero is a zero.
 *
 * Most dialects count cached tokens into the input; where the total, or an input that is too small for them, says
 * otherwise, they are added. Reasoning is added to the output where only that makes the total. A report that is an
 * object gives what no attribute counts; one without any count is none. A cost without any count is a report, too.
 */
export function readSpanUsage(reader: SpanReader): SpanUsage | null {
  const { report: object, counts: held } = readHeld(reader)
  const isBeside = reader.countsCacheBeside()
  const reporter = isBeside ? COUNTS_SEPARATELY : COUNTS_INSIDE
  const input = reader.takeCount('inputTokens')
  const output = reader.takeCount('outputTokens')
  const total = reader.takeCount('totalTokens')
  const isAttribute = input !== null || output !== null || total !== null
  const priced = readPriced(reader, object)
  // A cost of 0 says nothing by itself: libraries send it where they know none.
  const costs = (readReportedCost({ ...priced }, null).microcents ?? 0) > 0
  if (!isAttribute && held === null && !costs) return null
  const read = reader.takeCount('cacheRead') ?? (held?.cache_read_input_tokens || null)
  const written = reader.takeCount('cacheWrite') ?? (held?.cache_creation_input_tokens || null)
  const forHour = reader.takeCount('cacheWriteHour') ?? held?.cache_creation_1h_input_tokens
  const reasoning = reader.takeCount('reasoning') ?? (held?.reasoning_tokens || null)
  const audioIn = reader.takeCount('inputAudio') ?? (held?.input_audio_tokens || null)
  const audioOut = reader.takeCount('outputAudio') ?? (held?.output_audio_tokens || null)
  const beside = reader.countsThoughtsBeside() ? (reasoning ?? 0) : 0
  const report = {
    input_tokens: input ?? Math.max(0, (total ?? 0) - (output ?? 0) - beside),
    output_tokens: output ?? 0,
    // The sum of both alone, which such a library makes itself, says nothing of a cache.
    total_tokens: isBeside && total === (input ?? 0) + (output ?? 0) ? null : total,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written,
    reasoning_tokens: reasoning,
  }
  const counts = isAttribute || held === null ? readReport(report, '', reporter).counts : held
  const sent = { ...given('cached_tokens', read), ...given('audio_tokens', audioIn) }
  const answered = { ...given('reasoning_tokens', reasoning), ...given('audio_tokens', audioOut) }
  return {
    requests: 1,
    prompt_tokens: counts.input_tokens,
    completion_tokens: counts.output_tokens,
    total_tokens: counts.total_tokens,
    ...(Object.keys(sent).length === 0 ? {} : { prompt_tokens_details: sent }),
    ...given('cache_creation_input_tokens', written),
    ...(forHour ? { cache_creation: { ephemeral_1h_input_tokens: forHour } } : {}),
    ...(Object.keys(answered).length === 0 ? {} : { completion_tokens_details: answered }),
    ...priced,
  }
}

/** The cost and the tier of service: those of the span, else those in its report. */
function readPriced(reader: SpanReader, report: Json): Pick<SpanUsage, 'cost' | 'service_tier'> {
  const cost = reader.take('cost')?.value
  const service_tier = reader.takeText('serviceTier') ?? readServiceTier(report)
  return {
    ...(cost === undefined ? costFields(report) : { cost }),
    ...(service_tier === null ? {} : { service_tier }),
  }
}

interface Held {
  readonly report: Json
  /** null: the report has none. */
  readonly counts: TokenCounts | null
}

/** A report that is an object. What a provider wrote is read by its arithmetic and the model's name. */
function readHeld(reader: SpanReader): Held {
  const told = reader.take('providerUsage')?.value
  const model = reader.takeText('model') ?? reader.takeText('requestedModel') ?? ''
  const [report, reporter] = isObject(told)
    ? [told, null]
    : [reader.take('usage')?.value, COUNTS_INSIDE]
  if (!isObject(report)) return { report: {}, counts: null }
  const { counts, isEmpty } = readReport(report, model, reporter)
  return { report, counts: isEmpty ? null : counts }
}

function given<Name extends string>(name: Name, count: number | null): { [name in Name]?: number } {
  return count === null ? {} : ({ [name]: count } as { [name in Name]?: number })
}
