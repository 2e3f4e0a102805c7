/** The filters of statistics that the columns of an hour can evaluate. Pure. */

import { runNames } from '../../../../domain/calls/run-names.ts'
import { wildcardPrefix } from '../../../../domain/objects/refs.ts'
import type { CallsFilter } from '../../../../schemas/calls/calls-filter.ts'
import type { Integers } from '../../../base/stats/sums.ts'
import { type HourColumns, IS_ROOT, type NamesColumn } from './hour-columns.ts'
import type { OpGroups } from './segment.ts'

type NameTest = (name: string | null) => boolean

export interface HourFilter {
  readonly op: NameTest | null
  readonly user: NameTest | null
  readonly run: NameTest | null
  readonly endUser: NameTest | null
  readonly rootsOnly: boolean
}

const ROW_FIELDS = [
  'call_ids',
  'trace_ids',
  'parent_ids',
  'thread_ids',
  'turn_ids',
  'input_refs',
  'output_refs',
] as const satisfies readonly (keyof CallsFilter)[]

/** Returns the filter for columns; null when it has a field that is not in them. */
export function toHourFilter(project_id: string, filter: CallsFilter): HourFilter | null {
  if (ROW_FIELDS.some((field) => (filter[field] ?? []).length > 0)) return null
  return {
    op: anyOf(filter.op_names),
    user: anyOf(filter.svc_user_ids, () => null),
    run: anyOf(runNames(project_id, filter.svc_run_ids ?? []), () => null),
    endUser: anyOf(filter.end_user_ids, () => null),
    rootsOnly: filter.trace_roots_only === true,
  }
}

function anyOf(
  entries: readonly string[] | null | undefined,
  prefixOf: (entry: string) => string | null = wildcardPrefix,
): NameTest | null {
  if (!entries || entries.length === 0) return null
  const exact = new Set(entries.filter((entry) => prefixOf(entry) === null))
  const prefixes = entries.map(prefixOf).filter((prefix) => prefix !== null)
  return (name) =>
    name !== null && (exact.has(name) || prefixes.some((prefix) => name.startsWith(prefix)))
}

export function isUnfiltered(filter: HourFilter): boolean {
  return !filter.op && !filter.rootsOnly && fitsGroups(filter)
}

/** Whether sums by op and root suffice for the filter. */
export function fitsGroups({ user, run, endUser }: HourFilter): boolean {
  return !user && !run && !endUser
}

/** Returns the part of each group: 0 when it matches, -1 otherwise. */
export function groupParts({ op, rootsOnly }: HourFilter, { names }: OpGroups): Int8Array {
  const parts = new Int8Array(names.length * 2).fill(-1)
  names.forEach((name, place) => {
    if (op && !op(name)) return
    parts[place * 2 + 1] = 0
    if (!rootsOnly) parts[place * 2] = 0
  })
  return parts
}

/** Sets the part of calls that do not match to -1. */
export function applyFilter(filter: HourFilter, columns: HourColumns, partOf: Int16Array): void {
  applyNames(filter.op, columns, 'op', partOf)
  applyNames(filter.user, columns, 'user', partOf)
  applyNames(filter.run, columns, 'run', partOf)
  applyNames(filter.endUser, columns, 'endUser', partOf)
  if (!filter.rootsOnly) return
  applyMask(columns.flags(), (flags) => (flags & IS_ROOT) !== 0, partOf)
}

function applyNames(
  test: NameTest | null,
  columns: HourColumns,
  column: NamesColumn,
  partOf: Int16Array,
): void {
  if (!test) return
  const { names, ids } = columns.names(column)
  const counts = names.map(test)
  if (counts.every(Boolean)) return
  applyMask(ids, (id) => counts[id] === true, partOf)
}

/** Uses a mask because a branch on the value of each call takes several times as long. */
function applyMask(values: Integers, counts: (value: number) => boolean, partOf: Int16Array): void {
  const size = values instanceof Uint8Array ? 2 ** 8 : greatest(values) + 1
  const masks = Int16Array.from({ length: size }, (_, value) => (counts(value) ? 0 : -1))
  for (let call = 0; call < partOf.length; call++) {
    partOf[call] = (partOf[call] as number) | (masks[values[call] as number] as number)
  }
}

function greatest(values: Integers): number {
  let most = 0
  for (let index = 0; index < values.length; index++) most = Math.max(most, values[index] as number)
  return most
}
