/** The calls filter as conditions and parameters of a statement. */
import { wildcardPrefix } from '../../../domain/objects/refs.ts'
import type { CallsFilter } from '../../../schemas/calls/calls-filter.ts'
import type { FilterCondition } from '../stats/stats.sql.ts'

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
] as const

/**
 * Only fields that narrow: an absent, null or empty list and a false switch give nothing.
 *
 * Spec: §2.7 svc_run_ids. Choice: a run of the project is found by its name alone and behind the project's.
 */
export function toFilterClause(project_id: string, filter: CallsFilter): FilterClause {
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
  return { conditions, parameters }
}

function runNames(project_id: string, entries: readonly string[]): string[] {
  const prefix = `${project_id}/`
  return entries.flatMap((entry) => {
    if (entry.startsWith(prefix)) return [entry, entry.slice(prefix.length)]
    return entry.includes('/') ? [entry] : [entry, prefix + entry]
  })
}
