/** Identifies who reports usage, as far as that decides how its counts are read. Pure. */
import { isObject } from '../json/is-object.ts'

export interface UsageReporter {
  /** Where the reporter counts cached input under names, and with totals, that leave it open. */
  readonly cachedInput: 'inside' | 'beside'
}

/** OpenTelemetry's conventions have the cached tokens in `gen_ai.usage.input_tokens`. */
export const COUNTS_INSIDE: UsageReporter = { cachedInput: 'inside' }
/** Anthropic's API and what repeats its counts have them beside the input. */
export const COUNTS_SEPARATELY: UsageReporter = { cachedInput: 'beside' }

/**
 * The releases of weave from PyPI (as of 0.54.0): since 0.53.2 its integrations of Anthropic and Bedrock add what a
 * cache had or took to the input, since 0.53.3 that of the Claude Agent SDK; before, and in npm's weave (0.11.1), the
 * counts of the provider stand as they came.
 */
const GROSS_SINCE = [0, 53, 2]

/**
 * Identifies the reporter of a call's usage.
 *
 * @param attributes - those of the call, in which SDKs name themselves
 * @returns null for one that is not known
 */
export function identifyReporter(attributes: unknown): UsageReporter | null {
  const weave = isObject(attributes) ? attributes.weave : undefined
  if (!isObject(weave)) return null
  if (weave.source === 'js-sdk') return COUNTS_SEPARATELY
  if (weave.source !== 'python-sdk' || typeof weave.client_version !== 'string') return null
  return isFrom(weave.client_version, GROSS_SINCE) ? COUNTS_INSIDE : COUNTS_SEPARATELY
}

function isFrom(version: string, since: readonly number[]): boolean {
  const numbers = version.split(/[.+-]/).map((part) => Number.parseInt(part, 10))
  for (const [index, least] of since.entries()) {
    const number = numbers[index] ?? 0
    if (number !== least) return number > least
  }
  return true
}
