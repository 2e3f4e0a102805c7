/** Which calls the table shows, as the address has it, and the question that asks for them. */
import { computed } from '@preact/signals'
import type { CallsQuestion } from '../api/wire.ts'
import { query } from '../shell/location.ts'

/** Names in the address, and what a person reads beside the field. */
export const FILTERS = [
  { name: 'op', label: 'Operation', kind: 'text' },
  { name: 'text', label: 'Text in inputs or output', kind: 'text' },
  { name: 'status', label: 'Status', kind: 'status' },
  { name: 'slower', label: 'Slower than, ms', kind: 'number' },
  { name: 'user', label: 'User', kind: 'text' },
  { name: 'thread', label: 'Thread', kind: 'text' },
] as const

export const STATUSES = ['success', 'error', 'running', 'descendant_error']

export type FilterName = (typeof FILTERS)[number]['name']

export const filterValues = computed(
  () =>
    Object.fromEntries(FILTERS.map(({ name }) => [name, query.value.get(name) ?? ''])) as Record<
      FilterName,
      string
    >,
)

/** Whether calls below other calls are shown, too. */
export const withChildren = computed(() => query.value.get('all') === '1')

const field = (name: string) => ({ $getField: name })
const literal = (value: unknown) => ({ $literal: value })
const contains = (name: string, text: string) => ({
  $contains: {
    input: { $convert: { input: field(name), to: 'string' } },
    substr: literal(text),
    case_insensitive: true,
  },
})

/**
 * The question for the calls of the address.
 *
 * @param untilMs - calls that began later are left out, so that places in the list stay the same while it is read
 */
export function questionOf(project_id: string, untilMs: number): CallsQuestion {
  const { op, text, status, slower, user, thread } = filterValues.value
  const from = query.value.get('from')
  const to = query.value.get('to') ?? new Date(untilMs).toISOString()
  const conditions: object[] = [{ $lt: [field('started_at'), literal(to)] }]
  if (from !== null) conditions.push({ $gte: [field('started_at'), literal(from)] })
  if (op !== '') conditions.push(contains('op_name', op))
  if (text !== '') conditions.push({ $or: [contains('inputs', text), contains('output', text)] })
  if (status !== '') conditions.push({ $eq: [field('summary.weave.status'), literal(status)] })
  if (slower !== '')
    conditions.push({ $gt: [field('summary.weave.latency_ms'), literal(Number(slower))] })
  if (user !== '') conditions.push({ $eq: [field('svc_username'), literal(user)] })
  return {
    project_id,
    filter: {
      ...(withChildren.value ? {} : { trace_roots_only: true }),
      ...(thread === '' ? {} : { thread_ids: [thread] }),
    },
    query: { $expr: conditions.length === 1 ? conditions[0] : { $and: conditions } },
  }
}

/** Changes with what is asked for. */
export const questionName = computed(() =>
  JSON.stringify([
    filterValues.value,
    withChildren.value,
    query.value.get('from'),
    query.value.get('to'),
  ]),
)
