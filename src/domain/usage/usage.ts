/** Reads the tokens by model from a call's `summary.usage`. Pure. */
import { ApiError } from '../../errors.ts'
import { isObject } from '../json/is-object.ts'
import { readReportedCost } from './reported-cost.ts'
import { readReport, type TokenCounts } from './usage-report.ts'
import { readName, type UsageReporter } from './usage-reporter.ts'

/** Limit: models in one summary. */
const USAGE_MODELS_MAX = 100
const MODEL_NAME_MAX = 256

/** A model and what else decides its price. */
export interface PricedModel {
  readonly model: string
  /** Who served it, as the client names it; null: not known. */
  readonly provider: string | null
  /** Its name where it was served, by which it has a price; null: the same. */
  readonly upstream_model: string | null
  /** What it was served as, such as `batch` or `priority`; null: not known, or the default. */
  readonly service_tier: string | null
  /** Whether the client reports its cost. */
  readonly reports_cost: boolean
}

/** Tokens of one model in one call. */
export interface ModelUsage extends TokenCounts, PricedModel {
  /** What the client reports as the cost, in 10^-8 US dollars; 0 where it reports none. */
  readonly reported_cost_microcents: number
}

/** With its number of requests; 1 when the client does not report it. */
export interface CallUsage extends ModelUsage {
  readonly requests: number
  /** Whether the client reported them. */
  readonly tells_requests: boolean
}

/** What the reading of a report leaves open, by model. */
export interface UsageDoubt {
  readonly model: string
  readonly isAmbiguous: boolean
  readonly problems: readonly string[]
}

/**
 * Reads `summary.usage`.
 *
 * @param reporter - null: not known
 * @throws ApiError validation_failed for more than USAGE_MODELS_MAX models or a name over 256 characters
 */
export function readUsage(summary: unknown, reporter: UsageReporter | null = null): CallUsage[] {
  return reportsOf(summary).map(([model, report]) => {
    const { requests } = report
    const { microcents } = readReportedCost(report, copiedCost(summary, model))
    return {
      model,
      provider: readName(report.provider) ?? reporter?.provider ?? null,
      upstream_model: readUpstreamModel(report, model),
      service_tier: readServiceTier(report),
      reports_cost: microcents !== null,
      reported_cost_microcents: microcents ?? 0,
      ...readReport(report, model, reporter).counts,
      requests: typeof requests === 'number' ? wholeRequests(requests) : 1,
      tells_requests: typeof requests === 'number',
    }
  })
}

/**
 * Returns the reports of `summary.usage` that cannot be read in one way, or not at all.
 *
 * @param reporter - null: not known
 */
export function findUsageDoubts(summary: unknown, reporter: UsageReporter | null): UsageDoubt[] {
  return reportsOf(summary)
    .map(([model, report]) => {
      const { isAmbiguous, problems } = readReport(report, model, reporter)
      const cost = readReportedCost(report, copiedCost(summary, model))
      return { model, isAmbiguous, problems: [...problems, ...cost.problems] }
    })
    .filter(({ isAmbiguous, problems }) => isAmbiguous || problems.length > 0)
}

function reportsOf(summary: unknown): [string, Readonly<Record<string, unknown>>][] {
  const usage = isObject(summary) ? summary.usage : undefined
  if (!isObject(usage)) return []
  const reports = Object.entries(usage).filter(
    (entry): entry is [string, Record<string, unknown>] => isObject(entry[1]),
  )
  if (reports.length > USAGE_MODELS_MAX)
    throw tooMuch(`must have at most ${USAGE_MODELS_MAX} models`)
  if (reports.some(([model]) => model.length > MODEL_NAME_MAX)) {
    throw tooMuch(`has a model name of more than ${MODEL_NAME_MAX} characters`)
  }
  return reports
}

function readUpstreamModel(report: Readonly<Record<string, unknown>>, model: string) {
  const name = readName(report.upstream_model, MODEL_NAME_MAX)
  return name === model ? null : name
}

/** Tiers at the standard price; `auto` is what a request leaves to the provider. */
const STANDARD_TIERS: ReadonlySet<string> = new Set(['default', 'standard', 'auto', 'on_demand'])

/** Returns the tier that served a request; null for the standard one. Anthropic names the fast one `speed`. */
export function readServiceTier({ service_tier, speed }: Readonly<Record<string, unknown>>) {
  const tier = readName(service_tier)?.toLowerCase() ?? null
  if (tier !== null && !STANDARD_TIERS.has(tier)) return tier
  return speed === 'fast' ? 'fast' : null
}

/** The cost that another server added to the summary of a call that is copied from there. */
function copiedCost(summary: unknown, model: string): unknown {
  const weave = isObject(summary) ? summary.weave : undefined
  const costs = isObject(weave) ? weave.costs : undefined
  return isObject(costs) ? costs[model] : undefined
}

function wholeRequests(requests: number): number {
  return requests > 0 ? Math.min(Math.trunc(requests), Number.MAX_SAFE_INTEGER) : 0
}

function tooMuch(rule: string): ApiError {
  return new ApiError('validation_failed', {
    message: `end.summary.usage ${rule}`,
    param: 'end.summary.usage',
  })
}
