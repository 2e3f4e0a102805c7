/** Converts the calls filter to conditions and parameters of a statement. */
import { runNames } from '../../../../domain/calls/run-names.ts'
import { wildcardPrefix } from '../../../../domain/objects/refs.ts'
import type { CallsFilter } from '../../../../schemas/calls/calls-filter.ts'
import type { Connection } from '../../db/connection.ts'
import {
  COUNT_END_USER_CALLS,
  COUNT_INPUT_USES,
  COUNT_OUTPUT_USES,
  type FilterCondition,
} from './filter-conditions.sql.ts'

export interface FilterClause {
  readonly conditions: readonly FilterCondition[]
  /** JSON arrays by parameter name. */
  readonly parameters: Readonly<Record<string, string>>
}

const PATTERN_FIELDS = ['op_names', 'input_refs', 'output_refs'] as const
const EXACT_FIELDS = [
  'parent_ids',
  'trace_ids',
  'call_ids',
  'thread_ids',
  'turn_ids',
  'svc_user_ids',
  'svc_run_ids',
  'end_user_ids',
] as const

/** Limit: uses of refs, or calls of end users, up to which calls are found through them. */
const FEW_USES = 4096

/**
 * Returns conditions only for fields that narrow: an absent, null or empty list and a false switch add none. Counts the
 * uses of refs, since most calls may use a ref.
 */
export function toFilterClause(
  db: Connection,
  project_id: string,
  filter: CallsFilter,
): FilterClause {
  const conditions: FilterCondition[] = []
  const parameters: Record<string, string> = {}
  for (const field of PATTERN_FIELDS) {
    const entries = filter[field] ?? []
    if (entries.length === 0) continue
    const prefixes = entries.map(wildcardPrefix).filter((prefix) => prefix !== null)
    const exact = entries.filter((entry) => wildcardPrefix(entry) === null)
    conditions.push(field)
    parameters[field] = JSON.stringify(exact)
    parameters[`${field}_prefixes`] = JSON.stringify(prefixes)
  }
  for (const field of EXACT_FIELDS) {
    const entries = filter[field] ?? []
    if (entries.length === 0) continue
    conditions.push(field)
    const found = field === 'svc_run_ids' ? runNames(project_id, entries) : entries
    parameters[field] = JSON.stringify(found)
  }
  if (filter.trace_roots_only) conditions.push('trace_roots_only')
  const counted = { ...parameters, project_id, limit: FEW_USES + 1 }
  return { conditions: conditions.map((name) => seekFew(db, name, counted)), parameters }
}

const COUNTS = {
  input_refs: COUNT_INPUT_USES,
  output_refs: COUNT_OUTPUT_USES,
  end_user_ids: COUNT_END_USER_CALLS,
} as const

function seekFew(
  db: Connection,
  condition: FilterCondition,
  parameters: Readonly<Record<string, unknown>>,
): FilterCondition {
  if (!isCounted(condition)) return condition
  const calls = db.prepare(COUNTS[condition]).pluck().get(parameters) as number
  return calls <= FEW_USES ? `few_${condition}` : condition
}

function isCounted(condition: FilterCondition): condition is keyof typeof COUNTS {
  return Object.hasOwn(COUNTS, condition)
}
