/** The columns of the table: those that every call has, and any path inside bodies. The choice is in the address. */
import { computed } from '@preact/signals'
import { type Call, factsOf, tagsOf, usageOf } from '../api/wire.ts'
import { summaryOf } from '../parts/calls/feedback-summary.ts'
import {
  formatCount,
  formatExactCost,
  formatFittingCost,
  formatFittingCount,
  formatMs,
  formatTime,
  preview,
  shortOp,
} from '../parts/format.ts'
import {
  lastMessageText,
  onlyTextOf,
  promptOf,
  responseMessagesOf,
} from '../parts/messages/messages.ts'
import { query, setQuery } from '../shell/location.ts'
import { withChildren } from './filters.ts'

/** Bodies that a column may reach into. */
const BODIES = ['inputs', 'output', 'attributes', 'summary']
/** Limit: characters of a path. */
const PATH_CHARS_MAX = 512
/** Limit: columns of the table. */
const COLUMNS_MAX = 30

export interface Column {
  readonly name: string
  readonly label: string
  readonly isNumber?: boolean
  /** Width as a grid track. */
  readonly width: string
  /** Name of the column in an export; by default the column's name. */
  readonly fields?: readonly string[]
  /** Field by which the server sorts; absent if it cannot. */
  readonly sort?: string
  /** The same in a list of roots, each of which stands for its tree; by default `sort`. */
  readonly treeSort?: string
  /** The body that must be fetched for this column. */
  readonly body?: string
  read(call: Call): unknown
  /** Text of the cell; by default the value as text. */
  show?(value: never): string
  /** Text of the tooltip; by default the text of the cell. */
  tell?(value: never): string
}

const FIXED: readonly Column[] = [
  {
    name: 'started',
    sort: 'started_at',
    fields: ['started_at'],
    label: 'Started',
    width: '172px',
    read: ({ started_at }) => started_at,
    show: (time: string) => formatTime(time),
  },
  {
    name: 'op',
    sort: 'op_name',
    fields: ['op_name'],
    label: 'Operation',
    width: 'minmax(120px, 1fr)',
    read: ({ display_name, op_name }) => display_name ?? shortOp(op_name),
  },
  {
    name: 'status',
    sort: 'summary.weave.status',
    label: 'Status',
    width: '96px',
    read: (call) => factsOf(call).status,
  },
  {
    name: 'latency',
    sort: 'summary.weave.latency_ms',
    fields: ['latency_ms'],
    label: 'Latency',
    width: '80px',
    isNumber: true,
    read: (call) => factsOf(call).latency_ms,
    show: formatMs,
  },
  {
    name: 'model',
    fields: ['models'],
    label: 'Model',
    width: 'minmax(90px, 140px)',
    read: (call) => usageOf(call).models.join(', '),
  },
  {
    name: 'tokens',
    treeSort: 'summary.weave.tree_total_tokens',
    fields: ['total_tokens'],
    label: 'Tokens',
    width: '84px',
    isNumber: true,
    read: (call) => factsOf(call).tree_total_tokens ?? usageOf(call).tokens,
    show: formatFittingCount,
    tell: formatCount,
  },
  {
    name: 'cost',
    sort: 'summary.weave.total_cost',
    treeSort: 'summary.weave.tree_total_cost',
    fields: ['total_cost'],
    label: 'Cost',
    width: '76px',
    isNumber: true,
    read: (call) => factsOf(call).tree_total_cost ?? usageOf(call).cost,
    show: formatFittingCost,
    tell: formatExactCost,
  },
  {
    name: 'user',
    sort: 'svc_username',
    fields: ['svc_username'],
    label: 'User',
    width: '110px',
    read: ({ svc_username }) => svc_username,
  },
  {
    name: 'end-user',
    sort: 'end_user_id',
    fields: ['end_user_id'],
    label: 'End user',
    width: '120px',
    read: ({ end_user_id }) => end_user_id,
  },
  {
    name: 'thread',
    sort: 'thread_id',
    fields: ['thread_id'],
    label: 'Thread',
    width: '120px',
    read: ({ thread_id }) => thread_id,
  },
  {
    name: 'feedback',
    label: 'Feedback',
    width: '120px',
    read: (call) => summaryOf(factsOf(call).feedback ?? []),
  },
  {
    name: 'tags',
    // Of all feedback, of which tags are a part.
    fields: ['feedback'],
    label: 'Tags',
    width: 'minmax(100px, 180px)',
    read: (call) => tagsOf(factsOf(call).feedback ?? []).join(', '),
  },
  {
    name: 'inputs',
    label: 'Inputs',
    width: 'minmax(160px, 2fr)',
    body: 'inputs',
    read: ({ inputs }) => lastMessageText(promptOf(inputs)) ?? onlyTextOf(inputs),
  },
  {
    name: 'output',
    fields: ['output', 'exception'],
    label: 'Output',
    width: 'minmax(160px, 2fr)',
    body: 'output',
    read: ({ exception, output }) =>
      exception ?? lastMessageText(responseMessagesOf(output)) ?? onlyTextOf(output),
  },
]

const DEFAULT = 'started,op,status,latency,tokens,cost,inputs,output'

/** Columns that a person may choose by a name. */
export const CHOICES = FIXED.map(({ name, label }) => ({ name, label }))

export const columnNames = computed(() => {
  const known = (query.value.get('cols') ?? '')
    .split(',')
    .filter((name) => columnNamed(name) !== null)
  return known.length > 0 ? known : DEFAULT.split(',')
})

export const columns = computed(() =>
  columnNames.value.slice(0, COLUMNS_MAX).flatMap((name) => columnNamed(name) ?? []),
)

export function chooseColumns(names: readonly string[]): void {
  const text = names.join(',')
  setQuery({ cols: text === DEFAULT || text === '' ? null : text })
}

/** Shows the tags of the calls, too. */
export function showTags(): void {
  const names = columnNames.value
  if (!names.includes('tags')) chooseColumns([...names, 'tags'])
}

/** Returns a column by its name or by a path inside a body, such as `inputs.question`; null if it is neither. */
export function columnNamed(name: string): Column | null {
  const fixed = FIXED.find((column) => column.name === name)
  if (fixed !== undefined) return fixed
  const [body = '', ...path] = name.split('.')
  if (name.length > PATH_CHARS_MAX) return null
  if (!BODIES.includes(body) || path.length === 0 || path.includes('')) return null
  return {
    name,
    label: name,
    sort: name,
    body,
    width: 'minmax(120px, 1fr)',
    read: (call) => valueAt(call[body as keyof Call], path),
  }
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, name) => {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined
    return (at as Record<string, unknown>)[name]
  }, value)
}

/** Returns the fields to request: those that the columns show and no others. */
export function requestedColumns(shown: readonly Column[]) {
  const has = (name: string) => shown.some((column) => column.name === name)
  // A path says what a preview of its body must have.
  const bodies = shown.flatMap(({ name, body }) => (body === undefined ? [] : name))
  return {
    columns: ['summary', 'svc_username', 'end_user_id', 'thread_id', ...bodies],
    preview_bodies: true,
    include_costs: has('cost'),
    // A row of a root stands for its tree.
    include_tree_usage: !withChildren.value && (has('tokens') || has('cost')),
    include_feedback: has('feedback') || has('tags'),
  }
}

/** Limit: characters of a cell. */
const CELL_CHARS = 160

/** Shown in place of a body that is too long for a list. */
const UNREAD = 'over 1 MiB: open the call to read it'

/** Reduces what a column shows of a call to a number or a short text, so that bodies can be released. */
export function cellOf({ body, read }: Column, call: Call): string | number | null {
  const found = read(call)
  const isUnread = body !== undefined && factsOf(call).unread_bodies?.includes(body)
  const value = isUnread && isEmpty(found) ? UNREAD : found
  if (value === null || value === undefined) return null
  return typeof value === 'number' ? value : preview(value, CELL_CHARS)
}

function isEmpty(value: unknown): boolean {
  if (typeof value === 'number' || typeof value === 'boolean') return false
  return Object.keys(value ?? {}).length === 0
}

export function showCell({ show }: Column, cell: string | number | null): string {
  if (cell === null) return ''
  return show === undefined ? String(cell) : show(cell as never)
}

/** The full text of a cell, which may be shown shortened. */
export function cellText(column: Column, cell: string | number | null): string {
  if (cell === null || column.tell === undefined) return showCell(column, cell)
  return column.tell(cell as never)
}
