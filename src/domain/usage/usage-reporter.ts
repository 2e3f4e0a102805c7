/** Identifies who reports usage, as far as that decides how its counts are read. Pure. */
import { isObject } from '../json/is-object.ts'

export interface UsageReporter {
  /** Where the reporter counts cached input under names, and with totals, that leave it open; null: not known. */
  readonly cachedInput: 'inside' | 'beside' | null
  /** Who served the models, as the reporter names it; null: not known. */
  readonly provider: string | null
}

/** OpenTelemetry's conventions have the cached tokens in `gen_ai.usage.input_tokens`. */
export const COUNTS_INSIDE: UsageReporter = { cachedInput: 'inside', provider: null }
/** Anthropic's API and what repeats its counts have them beside the input. */
export const COUNTS_SEPARATELY: UsageReporter = { cachedInput: 'beside', provider: null }

/** Limit: characters of the name of a provider or a tier; a longer one is none. */
const NAME_MAX = 64

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
  if (!isObject(attributes)) return null
  const { weave, integration } = attributes
  const cachedInput = isObject(weave) ? readCachedInput(weave) : null
  const provider =
    readName(attributes.provider) ?? readName(isObject(integration) && integration.name)
  return cachedInput === null && provider === null ? null : { cachedInput, provider }
}

function readCachedInput(weave: Readonly<Record<string, unknown>>): UsageReporter['cachedInput'] {
  if (weave.source === 'js-sdk') return 'beside'
  if (weave.source !== 'python-sdk' || typeof weave.client_version !== 'string') return null
  return isFrom(weave.client_version, GROSS_SINCE) ? 'inside' : 'beside'
}

/** Returns a name without control characters; null where the value is none. */
export function readName(value: unknown, max: number = NAME_MAX): string | null {
  if (typeof value !== 'string') return null
  const name = value.trim()
  return name === '' || name.length > max || /[\p{Cc}\p{Cs}]/u.test(name) ? null : name
}

function isFrom(version: string, since: readonly number[]): boolean {
  const numbers = version.split(/[.+-]/).map((part) => Number.parseInt(part, 10))
  for (const [index, least] of since.entries()) {
    const number = numbers[index] ?? 0
    if (number !== least) return number > least
  }
  return true
}
