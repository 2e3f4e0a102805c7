/** The calls filter as conditions and parameters of a statement. */
import { runNames } from '../../../../domain/calls/run-names.ts'
import { wildcardPrefix } from '../../../../domain/objects/refs.ts'
import type { CallsFilter } from '../../../../schemas/calls/calls-filter.ts'
import type { Parameters } from '../../db/client.ts'
import type { FilterCondition } from '../calls.sql.ts'

export interface FilterClause {
  readonly conditions: readonly FilterCondition[]
  readonly parameters: Parameters
}

/** Only fields that filter: an absent, null or empty list and a false switch add no condition. */
export function toFilterClause(project_id: string, filter: CallsFilter): FilterClause {
  const conditions: FilterCondition[] = []
  const lists: Record<string, readonly string[]> = {}
  const { trace_roots_only, ...fields } = filter
  for (const [name, list] of Object.entries(fields)) {
    const entries = list ?? []
    if (entries.length === 0) continue
    const field = name as keyof typeof fields
    conditions.push(field)
    lists[field] = field === 'svc_run_ids' ? runNames(project_id, entries) : entries
    if (field !== 'op_names' && field !== 'input_refs' && field !== 'output_refs') continue
    lists[field] = entries.filter((entry) => wildcardPrefix(entry) === null)
    lists[`${field}_prefixes`] = entries.flatMap((entry) => wildcardPrefix(entry) ?? [])
  }
  if (trace_roots_only) conditions.push('trace_roots_only')
  return { conditions, parameters: { project_id, ...lists } }
}
