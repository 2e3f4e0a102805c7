/** The calls that the address selects: a search, a time range, and whether nested calls are shown. */
import { computed } from '@preact/signals'
import type { CallsQueryBody } from '../api/wire.ts'
import { PRESETS } from '../parts/charts/range.ts'
import { query, setQuery } from '../shell/location.ts'
import { field, literal } from './search/conditions.ts'
import { queryOfSearch } from './search/search-query.ts'
import { type Condition, parseSearch, printCondition, printSearch } from './search/search-text.ts'

/** Parameters of links with one condition each, which are read but no longer written. */
const LINKED: Readonly<Record<string, (value: string) => Omit<Condition, 'isNot'>>> = {
  op: (value) => ({ key: 'op', operator: ':', values: [value] }),
  text: (value) => ({ key: 'text', operator: ':', values: [value] }),
  status: (value) => ({ key: 'status', operator: ':', values: [value] }),
  model: (value) => ({ key: 'model', operator: ':', values: [value] }),
  slower: (value) => ({ key: 'latency', operator: '>', values: [value] }),
  dearer: (value) => ({ key: 'cost', operator: '>', values: [value] }),
  user: (value) => ({ key: 'user', operator: ':', values: [value] }),
  'end-user': (value) => ({ key: 'end-user', operator: ':', values: [value] }),
  thread: (value) => ({ key: 'thread', operator: ':', values: [value] }),
  ref: (value) => ({ key: 'ref', operator: ':', values: [value] }),
  feedback: (value) => ({ key: 'feedback', operator: ':', values: [value] }),
}

/** The search in the address; parsing what links print makes their values canonical and reports bad ones. */
export const search = computed(() => {
  const linked = Object.entries(LINKED).flatMap(([name, read]) => {
    const value = query.value.get(name) ?? ''
    return value === '' ? [] : [printCondition({ ...read(value), isNot: false })]
  })
  return parseSearch([...linked, query.value.get('q') ?? ''].join(' '))
})

/** Changes the search in the address. @param isStep - whether the back button undoes it */
export function setSearch(conditions: readonly Condition[], isStep: boolean): void {
  const linked = Object.fromEntries(Object.keys(LINKED).map((name) => [name, null]))
  setQuery({ ...linked, q: printSearch(conditions) }, { isStep })
}

/** Whether child calls are shown, too. */
export const withChildren = computed(() => query.value.get('all') === '1')

export function showChildren(isShown: boolean): void {
  setQuery({ all: isShown ? '1' : null }, { isStep: true })
}

/**
 * Returns the query for the calls that the address selects.
 *
 * @param untilMs - later calls are left out, so that positions in the list stay stable while it is read
 * @param sinceMs - earlier calls are left out, too
 */
export function callsQueryOf(
  project_id: string,
  untilMs: number,
  sinceMs: number | null = null,
): CallsQueryBody {
  const { filter, conditions } = queryOfSearch(search.value.conditions)
  const from = query.value.get('from') ?? startOfPreset(untilMs)
  const to = query.value.get('to') ?? new Date(untilMs).toISOString()
  const begins = [from, sinceMs === null ? null : new Date(sinceMs).toISOString()]
  const since = begins.flatMap((time) =>
    time === null ? [] : [{ $gte: [field('started_at'), literal(time)] }],
  )
  const all = [{ $lt: [field('started_at'), literal(to)] }, ...since, ...conditions]
  return {
    project_id,
    filter: { ...(withChildren.value ? {} : { trace_roots_only: true }), ...filter },
    query: { $expr: all.length === 1 ? all[0] : { $and: all } },
  }
}

/** The start of a range that ends now, such as `7d`; null without one. */
function startOfPreset(untilMs: number): string | null {
  const preset = PRESETS[query.value.get('range') ?? '']
  const isShown = preset !== undefined && !query.value.has('to')
  return isShown ? new Date(untilMs - preset.ms).toISOString() : null
}

/** Whether anything other than the time is searched for. */
export const isFiltered = computed(() => search.value.conditions.length > 0)

/** Whether a time range is set. */
export const hasTimeRange = computed(() =>
  ['from', 'to', 'range'].some((name) => query.value.has(name)),
)

/** Returns a key that changes with the query. */
export const queryName = computed(() =>
  JSON.stringify([
    printSearch(search.value.conditions),
    withChildren.value,
    query.value.get('from'),
    query.value.get('to'),
    query.value.get('range'),
  ]),
)
