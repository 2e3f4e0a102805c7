/** Budgets: limits of money for a key, a project or a person. Pure. */
import { Temporal } from 'temporal-polyfill'
import { decimalAtoms, renderDecimal } from '../prices/decimal.ts'
import { ATOMS_PER_USD } from '../prices/price-table.ts'
import type { Measured } from '../stats/exact-sum.ts'

/** Money in 10^-9 dollars, whole: sums of a million dollars stay exact in a double. */
export interface Budget {
  readonly id: string
  readonly subject_kind: 'key' | 'project' | 'person'
  /** Id of the key, id of the project, or svc_user_id. */
  readonly subject_id: string
  readonly period: 'day' | 'week' | 'month' | 'life'
  /** IANA time zone in which periods begin. */
  readonly zone: string
  /** No request begins once so much is spent or reserved; null: no limit. */
  readonly hard_nanos: number | null
  /** Responses warn once so much is spent; null: never. */
  readonly soft_nanos: number | null
  readonly created_at_us: number
}

/** Microseconds since the epoch. */
export interface BudgetPeriod {
  readonly startUs: number
  /** Infinity: never. */
  readonly endUs: number
}

const NANOS_PER_USD = 1e9
const ATOMS_PER_NANO = ATOMS_PER_USD / NANOS_PER_USD

/** Returns the period that contains a time. Weeks begin on Monday. */
export function periodOf(
  { period, zone }: Pick<Budget, 'period' | 'zone'>,
  us: number,
): BudgetPeriod {
  if (period === 'life') return { startUs: 0, endUs: Number.POSITIVE_INFINITY }
  const day = Temporal.Instant.fromEpochMilliseconds(Math.floor(us / 1000))
    .toZonedDateTimeISO(zone)
    .startOfDay()
  const first =
    period === 'week'
      ? day.subtract({ days: day.dayOfWeek - 1 })
      : period === 'month'
        ? day.with({ day: 1 })
        : day
  const next = first.add({ [`${period}s`]: 1 })
  return { startUs: startOfDayUs(first), endUs: startOfDayUs(next) }
}

/** Where a change of the offset skips midnight, the day begins with it. */
function startOfDayUs(time: Temporal.ZonedDateTime): number {
  return time.startOfDay().epochMilliseconds * 1000
}

/** @param usd - a finite number >= 0, with at most nine digits after the point that count */
export function toNanos(usd: number): number {
  return atomsToNanos(decimalAtoms(renderDecimal(usd)))
}

/** Rounded up, so that a budget never counts less than what was spent. */
export function atomsToNanos(atoms: Measured): number {
  const per = BigInt(ATOMS_PER_NANO)
  return Number((BigInt(atoms) + per - 1n) / per)
}

export function toUsd(nanos: number): number {
  return nanos / NANOS_PER_USD
}

/** Names a budget in messages and headers, as `month budget of the key`. */
export function nameBudget({ period, subject_kind }: Budget): string {
  return `${period} budget of the ${subject_kind}`
}

/** What a budget is, in the names of responses, without its id and what is spent of it. */
export function renderLimits({ hard_nanos, soft_nanos, ...budget }: Budget) {
  const { subject_kind, subject_id, period, zone } = budget
  const hard_usd = hard_nanos === null ? null : toUsd(hard_nanos)
  const soft_usd = soft_nanos === null ? null : toUsd(soft_nanos)
  return { subject_kind, subject_id, period, zone, hard_usd, soft_usd }
}
