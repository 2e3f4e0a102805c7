/** Normalizes the tokens of a span to the form of `summary.usage`. Pure. */
import type { SpanReader } from './span-reader.ts'

/** What one span reports; input includes what a cache had or took. */
export interface SpanUsage {
  readonly requests: 1
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
  readonly prompt_tokens_details?: { readonly cached_tokens: number }
  readonly cache_creation_input_tokens?: number
  readonly completion_tokens_details?: { readonly reasoning_tokens: number }
}

/** Providers whose own counts of input leave out what a cache had or took. */
const EXCLUSIVE = /anthropic|claude|bedrock/i

/**
 * The usage that a span reports, or null where it reports none. A missing count is none, a zero is a zero.
 *
 * Most dialects count cached tokens into the input. The older keys of a provider that leaves them out are taken as the
 * provider counts, and so is any input that is smaller than what it should hold.
 */
export function readSpanUsage(reader: SpanReader, provider: string | null): SpanUsage | null {
  const input = reader.takeCount('inputTokens')
  const output = reader.takeCount('outputTokens')
  const total = reader.takeCount('totalTokens')
  const read = reader.takeCount('cacheRead')
  const written = reader.takeCount('cacheWrite')
  const reasoning = reader.takeCount('reasoning')
  if (input === null && output === null && total === null) return null
  const cached = (read ?? 0) + (written ?? 0)
  const sent = input ?? Math.max(0, (total ?? 0) - (output ?? 0))
  const isBeside =
    cached > sent ||
    (EXCLUSIVE.test(provider ?? '') && total !== null && total === sent + (output ?? 0) + cached)
  const prompt = isBeside ? sent + cached : sent
  return {
    requests: 1,
    prompt_tokens: prompt,
    completion_tokens: output ?? 0,
    total_tokens: Math.max(total ?? 0, prompt + (output ?? 0)),
    ...(read === null ? {} : { prompt_tokens_details: { cached_tokens: read } }),
    ...(written === null ? {} : { cache_creation_input_tokens: written }),
    ...(reasoning === null ? {} : { completion_tokens_details: { reasoning_tokens: reasoning } }),
  }
}
