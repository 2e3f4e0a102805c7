/** The filters of the table, as in the address, and the query built from them. */
import { computed } from '@preact/signals'
import type { CallsQueryBody } from '../api/wire.ts'
import { query } from '../shell/location.ts'
import { contains, escapedInJson, field, isThere, literal } from './conditions.ts'
import { MODEL_HINT, modelCondition } from './model-condition.ts'

export interface Filter {
  /** In the address. */
  readonly name: string
  /** Label of the field. */
  readonly label: string
  readonly kind: 'text' | 'number' | 'choice'
  /** Hint about valid input, if the label does not say enough. */
  readonly hint?: string
  /** Options of a choice: the value in the address and its label. */
  readonly choices?: Readonly<Record<string, string>>
}

export const FILTERS = [
  { name: 'op', label: 'Operation', kind: 'text' },
  { name: 'text', label: 'Text in inputs or output', kind: 'text' },
  {
    name: 'status',
    label: 'Status',
    kind: 'choice',
    choices: {
      success: 'ok',
      error: 'error',
      running: 'running',
      descendant_error: 'error below',
    },
  },
  { name: 'model', label: 'Model', kind: 'text', hint: MODEL_HINT },
  { name: 'slower', label: 'Slower than, ms', kind: 'number' },
  { name: 'dearer', label: 'Costs more than, $', kind: 'number' },
  { name: 'user', label: 'User', kind: 'text' },
  { name: 'end-user', label: 'End user', kind: 'text' },
  { name: 'thread', label: 'Thread', kind: 'text' },
  { name: 'ref', label: 'Uses the object (ref)', kind: 'text' },
  {
    name: 'feedback',
    label: 'Feedback',
    kind: 'choice',
    choices: { some: 'some', none: 'none', good: '👍', bad: '👎', note: 'a note' },
  },
] as const satisfies readonly Filter[]

export type FilterName = (typeof FILTERS)[number]['name']

export const filterValues = computed(
  () =>
    Object.fromEntries(FILTERS.map(({ name }) => [name, query.value.get(name) ?? ''])) as Record<
      FilterName,
      string
    >,
)

/** Whether child calls are shown, too. */
export const withChildren = computed(() => query.value.get('all') === '1')

const FEEDBACK: Readonly<Record<string, object>> = {
  some: isThere('feedback.[*].id'),
  none: { $eq: [field('feedback.[*].id'), literal(null)] },
  good: contains('feedback.[*].payload.emoji', '👍'),
  bad: contains('feedback.[*].payload.emoji', '👎'),
  note: isThere('feedback.[*].payload.note'),
}

/** Returns a text verbatim and as escaped inside JSON. */
function spellingsOf(text: string): string[] {
  return [...new Set([text, escapedInJson(text)])]
}

/** The condition of each filter that has a value. */
const CONDITIONS: Readonly<Partial<Record<FilterName, (value: string) => object | null>>> = {
  // The column of operations shows the display name of a call that has one.
  op: (value) => ({ $or: [contains('op_name', value), contains('display_name', value)] }),
  text: (value) => ({
    $or: spellingsOf(value).flatMap((part) => [contains('inputs', part), contains('output', part)]),
  }),
  status: (value) => ({ $eq: [field('summary.weave.status'), literal(value)] }),
  model: modelCondition,
  slower: (value) => ({ $gt: [field('summary.weave.latency_ms'), literal(Number(value))] }),
  dearer: (value) => ({ $gt: [field('summary.weave.total_cost'), literal(Number(value))] }),
  user: (value) => ({ $eq: [field('svc_username'), literal(value)] }),
  feedback: (value) => FEEDBACK[value] ?? null,
}

/**
 * Returns the query for the calls that the address selects.
 *
 * @param untilMs - later calls are left out, so that positions in the list stay stable while it is read
 */
export function callsQueryOf(project_id: string, untilMs: number): CallsQueryBody {
  const values = filterValues.value
  const from = query.value.get('from')
  const to = query.value.get('to') ?? new Date(untilMs).toISOString()
  const asked = FILTERS.flatMap(({ name }) =>
    values[name] === '' ? [] : (CONDITIONS[name]?.(values[name]) ?? []),
  )
  const since = from === null ? [] : [{ $gte: [field('started_at'), literal(from)] }]
  const conditions = [{ $lt: [field('started_at'), literal(to)] }, ...since, ...asked]
  return {
    project_id,
    filter: {
      ...(withChildren.value ? {} : { trace_roots_only: true }),
      ...(values.thread === '' ? {} : { thread_ids: [values.thread] }),
      ...(values['end-user'] === '' ? {} : { end_user_ids: [values['end-user']] }),
      ...(values.ref === '' ? {} : { input_refs: [values.ref] }),
    },
    query: { $expr: conditions.length === 1 ? conditions[0] : { $and: conditions } },
  }
}

/** Whether any filter other than the time is set. */
export const isFiltered = computed(() =>
  Object.values(filterValues.value).some((value) => value !== ''),
)

/** Whether a time range is set. */
export const hasTimeRange = computed(() => query.value.has('from') || query.value.has('to'))

/** Returns a key that changes with the query. */
export const queryName = computed(() =>
  JSON.stringify([
    filterValues.value,
    withChildren.value,
    query.value.get('from'),
    query.value.get('to'),
  ]),
)
