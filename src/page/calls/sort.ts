/** The order of the list, as in the address: `latency`, or `-latency` for the largest first. */
import { computed } from '@preact/signals'
import { query, setQuery } from '../shell/location.ts'
import { type Column, columnNamed } from './columns.ts'
import { withChildren } from './filters.ts'

interface Sort {
  /** Name of the column. */
  readonly column: string
  readonly direction: 'asc' | 'desc'
}

const NEWEST_FIRST: Sort = { column: 'started', direction: 'desc' }

export const sort = computed<Sort>(() => {
  const text = query.value.get('sort') ?? ''
  const direction = text.startsWith('-') ? 'desc' : 'asc'
  const column = direction === 'desc' ? text.slice(1) : text
  const known = columnNamed(column)
  return known !== null && isSortable(known) ? { column, direction } : NEWEST_FIRST
})

/** Whether the server can sort by what the column shows. */
export function isSortable(column: Column): boolean {
  return sortFieldOf(column) !== undefined
}

function sortFieldOf({ sort, treeSort }: Column): string | undefined {
  return withChildren.value ? sort : (treeSort ?? sort)
}

/** Sorts by a column: numbers and times the largest first, texts from a to z; then the other way; then by time. */
export function sortBy(column: Column): void {
  const { name } = column
  const first = column.isNumber || name === 'started' ? 'desc' : 'asc'
  const second = first === 'desc' ? 'asc' : 'desc'
  const now = sort.value.column === name ? sort.value.direction : null
  const next = now === null ? first : now === first ? second : null
  const text = next === null ? null : `${next === 'desc' ? '-' : ''}${name}`
  setQuery({ sort: text === '-started' ? null : text }, { isStep: true })
}

/** The order in the words of the API. */
export function sortTerms(): { readonly field: string; readonly direction: 'asc' | 'desc' }[] {
  const { column, direction } = sort.value
  const known = columnNamed(column)
  return [{ field: (known && sortFieldOf(known)) ?? 'started_at', direction }]
}
