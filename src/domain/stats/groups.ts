/** Statistics by groups of calls: what a call is grouped by, and which groups are listed. Pure. */
import { refuseField } from '../../errors.ts'
import type { CallMetric, UsageMetric } from '../../schemas/stats/stats.ts'
import type { StatsGroupBy, StatsGroupField } from '../../schemas/stats/stats-groups.ts'
import type { ModelUsage } from '../usage/usage.ts'
import type { StatColumn } from './metric-names.ts'

/** Limit: groups of one query, listed or not; some 200 bytes each, and their names. */
export const GROUPS_MAX = 100_000
/** Limit: characters of a type of error. */
const ERROR_CHARS_MAX = 120
/** Names of exceptions: words with dots, such as `openai.RateLimitError`. */
const ERROR_NAME = /^[\p{L}_$][\p{L}\p{N}_$.]*$/u

/** Calls of one group, or of several. */
export interface GroupValues {
  /** Number of calls. */
  readonly count: number
  /** Of the columns of calls, then of those of usage; NaN means null. */
  readonly values: readonly number[]
  /** Start of the first and last call, in microseconds; null when not requested. */
  readonly firstUs: number | null
  readonly lastUs: number | null
}

export interface ListedGroups {
  /** Those up to the limit, sorted. */
  readonly groups: readonly (GroupValues & { readonly group: string | null })[]
  /** All others; null when there are none. */
  readonly others: (GroupValues & { readonly groups: number }) | null
}

/** Fields that calls are grouped by as they have them. */
const CALL_FIELDS = ['end_user_id', 'svc_user_id', 'op_name'] as const
type CallGroupField = (typeof CALL_FIELDS)[number]

function isCallField(field: StatsGroupField): field is CallGroupField {
  return (CALL_FIELDS as readonly string[]).includes(field)
}

/** What decides the groups of a call. */
interface GroupedCall {
  /** The field that calls are grouped by, where it is one of the call; for `error_type` the exception. */
  readonly value: string | null
  readonly endedAtUs: number | null
  readonly isError: boolean
}

/**
 * Returns the groups of a call, each once.
 *
 * @param usage - the rows of it that count
 */
export function groupsOf(
  field: StatsGroupField,
  { value, endedAtUs, isError }: GroupedCall,
  usage: readonly ModelUsage[],
): readonly (string | null)[] {
  if (field === 'status') return [endedAtUs === null ? 'running' : isError ? 'error' : 'success']
  if (field === 'error_type') return value === null ? [] : [errorType(value)]
  if (field !== 'model' && field !== 'provider') return [value]
  return usage.length === 0 ? [null] : [...new Set(usage.map((row) => row[field]))]
}

/**
 * The type of an error by its text: the class before the first colon where there is one, otherwise the line that says what
 * went wrong, which is the last one of a stack trace of Python, and the first one of others.
 */
export function errorType(exception: string): string {
  const lines = exception.trim().split('\n')
  const line = (exception.startsWith('Traceback') ? lines.at(-1) : lines[0]) ?? ''
  const [name = ''] = line.split(':', 1)
  const type = ERROR_NAME.test(name.trim()) ? name.trim() : line.trim()
  return type.slice(0, ERROR_CHARS_MAX).toWellFormed()
}

/** @throws ApiError validation_failed for what groups do not have */
export function checkGroupBy(
  { field, sort_by, times }: StatsGroupBy,
  callColumns: readonly StatColumn<CallMetric>[],
  usageColumns: readonly StatColumn<UsageMetric>[],
): void {
  if (times && !isCallField(field)) {
    refuseField('group_by.times', `is for groups by ${CALL_FIELDS.join(', ')}`)
  }
  for (const { of } of [...callColumns, ...usageColumns]) {
    if (typeof of === 'number') refuseField('group_by', 'cannot be combined with percentiles')
  }
  const isSum = ({ of }: StatColumn) => of === 'sum' || of === 'avg' || of === 'count'
  if (!usageColumns.every(isSum)) {
    refuseField('group_by', 'allows the aggregations sum, avg and count of usage metrics')
  }
  const sortable = [
    'count',
    'group',
    ...(times ? ['first_started_at', 'last_started_at'] : []),
    ...[...callColumns, ...usageColumns].map(({ key }) => key),
  ]
  if (!sortable.includes(sort_by.field)) {
    refuseField('group_by.sort_by.field', `must be one of ${sortable.join(', ')}`)
  }
}

/** Returns a test of names by a search. */
export function createSearch(search: string | null | undefined): (name: string | null) => boolean {
  const text = (search ?? '').toLowerCase()
  if (text === '') return () => true
  return (name) => name?.toLowerCase().includes(text) ?? false
}

/**
 * Returns the indexes of all groups in the order of a request.
 *
 * @param groups - indexes of groups in `names`
 * @param values - one of each group, NaN for none; null to sort by name
 */
export function sortGroups(
  groups: readonly number[],
  names: readonly (string | null)[],
  values: ArrayLike<number> | null,
  direction: 'asc' | 'desc',
): number[] {
  const sign = direction === 'asc' ? 1 : -1
  const byName = (a: number, b: number) => {
    const [left, right] = [names[a] ?? null, names[b] ?? null]
    if (left === null || right === null) return Number(left === null) - Number(right === null)
    return compareNames(left, right)
  }
  if (values === null) return groups.toSorted((a, b) => sign * byName(a, b))
  return groups.toSorted((a, b) => {
    const [left, right] = [values[a] as number, values[b] as number]
    if (Number.isNaN(left) || Number.isNaN(right)) {
      return Number(Number.isNaN(left)) - Number(Number.isNaN(right)) || byName(a, b)
    }
    return left === right ? byName(a, b) : left < right ? -sign : sign
  })
}

/** Compares by code unit, independent of the locale. */
export function compareNames(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
