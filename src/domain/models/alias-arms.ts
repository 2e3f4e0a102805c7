/** Calls, errors, latency, cost and scores of the two arms of an alias, side by side. Pure. */
import type { AliasArm, AliasScoreDifference } from '../../schemas/models/served-alias.ts'
import { type CallTexts, latencyMs } from '../calls/call-view.ts'
import type { FeedbackRow } from '../feedback/feedback-view.ts'
import { numberOf, readRating } from '../feedback/rating.ts'
import { objectOrEmpty } from '../json/json-values.ts'
import { priceUsage, totalUsd } from '../prices/cost.ts'
import type { PriceTable } from '../prices/price-table.ts'
import { meanOf } from '../training/advantages.ts'

/** A call of the alias. */
interface ArmCall {
  readonly call: CallTexts
  /** Prices of models. */
  readonly table: PriceTable
  /** The oldest first. */
  readonly feedback: readonly FeedbackRow[]
}

/** Scores of one type: of each end user or conversation, which are alike among themselves. */
type Scores = Map<string, number[]>

interface ArmSums {
  readonly models: Set<string>
  readonly latencies: number[]
  readonly costs: number[]
  readonly scores: Map<string, Scores>
  calls: number
  errors: number
}

const ARMS = ['target', 'candidate'] as const
/** Limit: types of feedback. */
const TYPES_MAX = 100
/** Least end users of each arm for an interval: with 3, chance parts the scores of both arms in 10 % of all cases. */
const UNITS_MIN = 4
/** Coefficients by falling powers of 1 / degrees of freedom: the 97.5 % quantile of Student's t, within 0.1 % from 3 on. */
const T_95 = [1.58953, 2.55585, 2.8225, 2.37227, 1.95996]

/** Creates the sums of both arms. Calls may be added in any order; those that name no arm do not count. */
export function createArmSums() {
  const sums = new Map<string, ArmSums>(ARMS.map((arm) => [arm, emptySums()]))
  return {
    add({ call, table, feedback }: ArmCall): void {
      const { started_at_us, ended_at_us, exception } = call
      const attributes = objectOrEmpty(JSON.parse(call.attributes_json ?? '{}'))
      const summary = objectOrEmpty(JSON.parse(call.summary_json ?? '{}'))
      const sum = sums.get(String(attributes.alias_arm))
      if (sum === undefined) return
      sum.calls += 1
      if (exception !== null) sum.errors += 1
      if (typeof attributes.model === 'string') sum.models.add(attributes.model)
      if (ended_at_us !== null) sum.latencies.push(latencyMs(started_at_us, ended_at_us))
      const cost_usd = totalUsd(priceUsage({ summary, attributes, started_at_us }, table))
      if (cost_usd !== null) sum.costs.push(cost_usd)
      const unit = call.end_user_id ?? call.thread_id ?? call.id
      for (const [type, score] of newestScores(feedback)) addScore(sum.scores, type, unit, score)
    },
    result() {
      const [target, candidate] = ARMS.map((arm) => sums.get(arm) ?? emptySums())
      const types = [...(target?.scores.keys() ?? [])].filter((type) => candidate?.scores.has(type))
      return {
        arms: ARMS.map((arm) => renderArm(arm, sums.get(arm) ?? emptySums())),
        differences: types.map((feedback_type) => {
          const [one, other] = [
            target?.scores.get(feedback_type),
            candidate?.scores.get(feedback_type),
          ]
          return { feedback_type, ...differenceOf(unitMeans(one), unitMeans(other)) }
        }),
      }
    },
  }
}

function emptySums(): ArmSums {
  return { models: new Set(), latencies: [], costs: [], scores: new Map(), calls: 0, errors: 0 }
}

function newestScores(feedback: readonly FeedbackRow[]): Map<string, number> {
  const scores = new Map<string, number>()
  for (const row of feedback) {
    const score = numberOf(readRating(row))
    if (score !== null) scores.set(row.feedback_type, score)
  }
  return scores
}

function addScore(byType: Map<string, Scores>, type: string, unit: string, score: number): void {
  const scores: Scores = byType.get(type) ?? new Map()
  if (!byType.has(type) && byType.size >= TYPES_MAX) return
  byType.set(type, scores)
  const known = scores.get(unit)
  if (known === undefined) scores.set(unit, [score])
  else known.push(score)
}

function unitMeans(scores: Scores = new Map()): number[] {
  return [...scores.values()].map(meanOf)
}

function renderArm(arm: (typeof ARMS)[number], sums: ArmSums): AliasArm {
  const latencies = sums.latencies.toSorted((one, other) => one - other)
  const cost_usd = sums.costs.length === 0 ? null : sums.costs.reduce((sum, cost) => sum + cost, 0)
  return {
    arm,
    models: [...sums.models].sort(),
    calls: sums.calls,
    errors: sums.errors,
    mean_latency_ms: latencies.length === 0 ? null : meanOf(latencies),
    p95_latency_ms: latencies[Math.ceil(latencies.length * 0.95) - 1] ?? null,
    cost_usd,
    mean_cost_usd: cost_usd === null ? null : cost_usd / sums.costs.length,
    scores: [...sums.scores].map(([feedback_type, scores]) => {
      const all = [...scores.values()].flat()
      return { feedback_type, count: all.length, users: scores.size, mean: meanOf(all) }
    }),
  }
}

/** The difference of two samples of means, and its 95 % interval of Welch's t-test, in which they need not vary alike. */
function differenceOf(
  target: readonly number[],
  candidate: readonly number[],
): Omit<AliasScoreDifference, 'feedback_type'> {
  const mean = meanOf(candidate) - meanOf(target)
  if (Math.min(target.length, candidate.length) < UNITS_MIN) return { mean, low: null, high: null }
  const [one, other] = [squaredErrorOf(target), squaredErrorOf(candidate)]
  const spread = one ** 2 / (target.length - 1) + other ** 2 / (candidate.length - 1)
  const degrees = spread === 0 ? Number.POSITIVE_INFINITY : (one + other) ** 2 / spread
  const quantile = T_95.reduce((sum, coefficient) => sum / degrees + coefficient, 0)
  const error = quantile * Math.sqrt(one + other)
  return { mean, low: mean - error, high: mean + error }
}

/** The square of the standard error of a mean. */
function squaredErrorOf(values: readonly number[]): number {
  const mean = meanOf(values)
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  return squares / (values.length - 1) / values.length
}
