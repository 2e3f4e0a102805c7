/** What calls can be grouped by for a list of the top ones. */
import { requestLines } from '../api/client.ts'
import type { Call, StatsQueryBody } from '../api/wire.ts'
import { cutText, shortOp } from '../parts/format.ts'
import { readTotals, type Sums } from './totals.ts'

/** Limit: calls of a range in which names are looked for. Their sums count all calls. */
export const SAMPLE_MAX = 1000
/** Limit: names whose calls are summed up, by their number in the sample. */
const NAMES_MAX = 10
const ERROR_CHARS_MAX = 120

export interface TopsScope {
  readonly project: string
  readonly fromMs: number
  readonly toMs: number
}

export interface TopRows {
  readonly rows: readonly Sums[]
  /** Whether older calls of the range may have other names. */
  readonly isSample: boolean
}

interface Group {
  readonly label: string
  /** Null where the sums of the whole range have the rows. */
  readonly read: ((scope: TopsScope, signal: AbortSignal) => Promise<TopRows>) | null
  /** Parameters of the list of the calls of a row. */
  readonly linkOf: (name: string) => Readonly<Record<string, string>>
  readonly none: string
}

export const GROUPS = {
  models: {
    label: 'Models',
    read: null,
    linkOf: (model) => ({ model }),
    none: 'No call in this time reports a model.',
  },
  operations: {
    label: 'Operations',
    read: (scope, signal) =>
      readGroups(scope, signal, ['op_name'], ({ op_name }) => ({
        key: op_name,
        name: shortOp(op_name),
        filter: { op_names: [op_name] },
      })),
    linkOf: (op) => ({ op }),
    none: 'No calls in this time.',
  },
  users: {
    label: 'Users',
    read: (scope, signal) =>
      readGroups(scope, signal, ['svc_user_id', 'svc_username'], ({ svc_user_id, svc_username }) =>
        svc_user_id === null
          ? null
          : {
              key: svc_user_id,
              name: svc_username ?? svc_user_id,
              filter: { svc_user_ids: [svc_user_id] },
            },
      ),
    linkOf: (user) => ({ user }),
    none: 'No call in this time has a user.',
  },
  errors: {
    label: 'Errors',
    read: readErrors,
    linkOf: (error) => ({ q: `error:${JSON.stringify(error)}` }),
    none: 'No call of this time failed.',
  },
} satisfies Record<string, Group>

export type GroupName = keyof typeof GROUPS

interface Named {
  readonly key: string
  readonly name: string
  readonly filter: StatsQueryBody['filter']
}

/** Sums up the calls of each name that is frequent in the newest calls. */
async function readGroups(
  scope: TopsScope,
  signal: AbortSignal,
  columns: readonly string[],
  nameOf: (call: Call) => Named | null,
): Promise<TopRows> {
  const calls = await readNewest(scope, signal, columns)
  const named = calls.flatMap((call) => nameOf(call) ?? [])
  const frequent = [...Map.groupBy(named, ({ key }) => key).values()]
    .toSorted((a, b) => b.length - a.length)
    .slice(0, NAMES_MAX)
  const rows = await Promise.all(
    frequent.flatMap(([first]) =>
      first === undefined
        ? []
        : readTotals({ ...scope, name: first.name, filter: first.filter }, signal),
    ),
  )
  return { rows, isSample: calls.length === SAMPLE_MAX }
}

/** Groups the newest failed calls by the first line of their errors. */
async function readErrors(scope: TopsScope, signal: AbortSignal): Promise<TopRows> {
  const failed = { $eq: [{ $getField: 'summary.weave.status' }, { $literal: 'error' }] }
  const calls = await readNewest(scope, signal, ['exception'], failed)
  const lines = Map.groupBy(calls, ({ exception }) => firstLine(exception ?? ''))
  const rows = [...lines].map(([name, { length }]) => ({
    name,
    calls: length,
    errors: null,
    tokens: 0,
    cost: null,
  }))
  return { rows, isSample: calls.length === SAMPLE_MAX }
}

/** The last line of a stack trace of Python says what went wrong, that of others the first. */
function firstLine(exception: string): string {
  const lines = exception.trim().split('\n')
  const line = exception.startsWith('Traceback') ? lines.at(-1) : lines[0]
  return cutText(line?.trim() ?? '', ERROR_CHARS_MAX)
}

function readNewest(
  { project, fromMs, toMs }: TopsScope,
  signal: AbortSignal,
  columns: readonly string[],
  condition?: object,
): Promise<Call[]> {
  const started = { $getField: 'started_at' }
  const time = (ms: number) => ({ $literal: new Date(ms).toISOString() })
  const within = [{ $gte: [started, time(fromMs)] }, { $lt: [started, time(toMs)] }]
  const body = {
    project_id: project,
    query: { $expr: { $and: condition === undefined ? within : [...within, condition] } },
    columns,
    sort_by: [{ field: 'started_at', direction: 'desc' }],
    limit: SAMPLE_MAX,
  }
  return Array.fromAsync(requestLines<Call>('/calls/stream_query', body, { signal }))
}
