/** Reads the tokens by model from a call's `summary.usage`. Pure. */
import { ApiError } from '../../errors.ts'
import { isObject } from '../json/is-object.ts'
import { readReport, type TokenCounts } from './usage-report.ts'
import { readProvider, type UsageReporter } from './usage-reporter.ts'

/** Limit: models in one summary. */
const USAGE_MODELS_MAX = 100
const MODEL_NAME_MAX = 256

/** Tokens of one model in one call. */
export interface ModelUsage extends TokenCounts {
  readonly model: string
  /** Who served it, as the client names it; null: not known. */
  readonly provider: string | null
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
    return {
      model,
      provider: readProvider(report.provider) ?? reporter?.provider ?? null,
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
    .map(([model, report]) => ({ model, ...readReport(report, model, reporter) }))
    .filter(({ isAmbiguous, problems }) => isAmbiguous || problems.length > 0)
    .map(({ model, isAmbiguous, problems }) => ({ model, isAmbiguous, problems }))
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

function wholeRequests(requests: number): number {
  return requests > 0 ? Math.min(Math.trunc(requests), Number.MAX_SAFE_INTEGER) : 0
}

function tooMuch(rule: string): ApiError {
  return new ApiError('validation_failed', {
    message: `end.summary.usage ${rule}`,
    param: 'end.summary.usage',
  })
}
