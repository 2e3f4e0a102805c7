/** Finds stored calls by their ids. */
import {
  type CallIdentity,
  type CallState,
  isSameSpan,
  keyOf,
} from '../../../domain/calls/call-state.ts'
import type { CallTexts, PreviewedBody } from '../../../domain/calls/call-view.ts'
import type { CallEnd } from '../../../domain/calls/new-call.ts'
import type { ClickHouse } from '../db/client.ts'
import { partsOf, type Read } from '../db/reads.ts'
import { SELECT_COUNTING } from '../usage/requests.sql.ts'
import { joinLogs } from './call-logs.ts'
import {
  type FoundRow,
  hashEnd,
  hashStart,
  type KnownStart,
  mergeRows,
  toKnownStart,
} from './call-rows.ts'
import * as SQL from './calls.sql.ts'
import { SELECT_RELATED } from './related-calls.sql.ts'
import { type BatchCall, unknownCall } from './write/batch-rows.ts'

interface KnownRow extends KnownStart {
  readonly id: string
  readonly has_start: 0 | 1
  readonly has_end: 0 | 1
  readonly start_hash: string
  readonly end_hash: string
}

/** A row of SELECT_RELATED; columns of other kinds are empty. */
interface RelatedRow {
  readonly kind: 'end' | 'orphan' | 'parent'
  readonly id: string
  readonly parent_id: string
  readonly started_at_us: number
  readonly end_hash: string
  readonly end_json: string
}

/** A call whose parent is not stored. */
export interface Orphan extends CallIdentity {
  readonly parent_id: string
  readonly started_at_us: number
}

/** What is stored of the calls that a batch names. */
export interface FoundStates {
  /** By keyOf. */
  readonly calls: Map<string, BatchCall>
  /** When the parents of the named starts began that are stored and not deleted, by keyOf. */
  readonly parents: Map<string, number[]>
  /** Orphans whose parents the batch names. */
  readonly orphans: Orphan[]
}

const NONE: ReadonlySet<string> = new Set()

interface StoredAttributes {
  readonly id: string
  /** null in the row of an end. */
  readonly attributes_json: string | null
}

interface StatesOptions {
  /** Whether to look up deletions: a third of the cost of the lookups of a batch. */
  readonly withDeleted: boolean
  /** The calls, by keyOf, whose usage is read as the reporter counts that their attributes name. */
  readonly reporting?: ReadonlySet<string>
}

/** Returns what is stored of calls; of starts also their parents. @throws ApiError store_unavailable */
export async function findStates(
  db: ClickHouse,
  names: readonly (CallIdentity & { readonly parent_id?: string | null })[],
  options: StatesOptions,
): Promise<FoundStates> {
  const found: FoundStates = { calls: new Map(), parents: new Map(), orphans: [] }
  for (const name of names) found.calls.set(keyOf(name), unknownCall())
  const projects = Map.groupBy(names, ({ project_id }) => project_id)
  const parts = [...projects].flatMap(([project_id, named]) => {
    const ids = partsOf([...new Set(named.map(({ id }) => id))])
    const parents = partsOf([...new Set(named.flatMap(({ parent_id }) => parent_id ?? []))])
    // One id may have been sent with several parents.
    const count = Math.max(ids.length, parents.length)
    return Array.from({ length: count }, (_, at) => ({
      project_id,
      ids: ids[at] ?? [],
      parents: parents[at] ?? [],
    }))
  })
  await Promise.all(parts.map((part) => fillStates(db, found, part, options)))
  return found
}

async function fillStates(
  db: ClickHouse,
  found: FoundStates,
  part: {
    readonly project_id: string
    readonly ids: readonly string[]
    readonly parents: readonly string[]
  },
  { withDeleted, reporting = NONE }: StatesOptions,
): Promise<void> {
  const { project_id } = part
  const ids = part.ids.filter((id) => reporting.has(keyOf({ project_id, id })))
  const callOf = (id: string) => found.calls.get(keyOf({ project_id, id })) as BatchCall
  const [rows, related, deleted, attributes] = await Promise.all([
    db.read<KnownRow>(SQL.SELECT_KNOWN_ROWS, part),
    db.read<RelatedRow>(SELECT_RELATED, part),
    withDeleted ? db.read<{ id: string }>(SQL.SELECT_DELETED, part) : [],
    ids.length > 0 ? db.read<StoredAttributes>(SQL.SELECT_ATTRIBUTES, { project_id, ids }) : [],
  ])
  for (const { id, attributes_json } of attributes) {
    if (attributes_json !== null) callOf(id).attributes_json = attributes_json
  }
  for (const row of rows) {
    const call = callOf(row.id)
    const { start, end } = call.state ?? {}
    if (row.has_start === 1 && !start) {
      call.known = toKnownStart(row)
      addToState(call, { start: toStart(row) })
    }
    if (row.has_end === 1 && !end) addToState(call, { end: toEnd(row.end_hash) })
  }
  for (const { kind, ...row } of related) {
    if (kind === 'end') addEarlyEnd(callOf(row.id), row)
    else if (kind === 'parent') {
      const key = keyOf({ project_id, id: row.id })
      found.parents.set(key, [...(found.parents.get(key) ?? []), row.started_at_us])
    } else found.orphans.push({ ...row, project_id })
  }
  for (const { id } of deleted) addToState(callOf(id), { isDeleted: true })
}

function addEarlyEnd(call: BatchCall, row: Pick<RelatedRow, 'end_hash' | 'end_json'>): void {
  if (call.state?.end) return
  addToState(call, { end: toEnd(row.end_hash) })
  call.earlyEnd = JSON.parse(row.end_json) as CallEnd
}

function addToState(call: BatchCall, found: Partial<CallState>): void {
  call.state = { start: null, end: null, isDeleted: false, ...call.state, ...found }
}

/** Rows are only added: a second one of a start would count twice. */
function toStart(row: KnownRow): CallState['start'] {
  return {
    trace_id: row.trace_id,
    isSame: (again) => hashStart(again) === row.start_hash,
    isSameSpan: (again) => isSameSpan(row, again),
    isFirstKept: true,
  }
}

function toEnd(end_hash: string): CallState['end'] {
  return { isSame: (again) => hashEnd(again) === end_hash }
}

/** Returns a call that is not deleted, or null. */
export async function findCall(
  { read }: ClickHouse,
  project_id: string,
  id: string,
): Promise<CallTexts | null> {
  const part = { project_id, ids: [id] }
  const rows = await read<LiveRow>(SQL.SELECT_LIVE_ROWS, part)
  return (await completeCalls(read, project_id, rows)).get(id) ?? null
}

/** A row of a call that is not deleted, with whether other tables have more of it. */
export interface LiveRow extends FoundRow {
  readonly is_renamed: 0 | 1
  readonly is_doubled: 0 | 1
  readonly is_logged: 0 | 1
  /** Only of reads for previews, as those below. */
  readonly inputs_json_is_long?: 0 | 1 | null
  readonly otel_dump_json_is_long?: 0 | 1 | null
  readonly output_json_is_long?: 0 | 1 | null
}

/** A call that was read. */
export interface ReadCall extends CallTexts {
  readonly unread?: readonly PreviewedBody[]
}

/**
 * Returns the calls of rows by id, with what other tables have of them.
 *
 * @param isPreview - whether long bodies were left out of the rows
 */
export async function completeCalls(
  read: Read,
  project_id: string,
  rows: readonly LiveRow[],
  isPreview = false,
): Promise<Map<string, ReadCall>> {
  const idsOf = (found: readonly LiveRow[]) => [...new Set(found.map(({ id }) => id))]
  const renamed = idsOf(rows.filter(({ is_renamed }) => is_renamed === 1))
  const doubled = idsOf(rows.filter(({ is_doubled }) => is_doubled === 1))
  const logged = idsOf(rows.filter(hasLoggedBody))
  const [names, counting, joined] = await Promise.all([
    renamed.length === 0
      ? []
      : read<{ id: string; display_name: string | null }>(SQL.SELECT_NAMES, {
          project_id,
          ids: renamed,
        }),
    doubled.length === 0
      ? []
      : read<{ id: string; counting: string }>(SELECT_COUNTING, { project_id, ids: doubled }),
    readLogged(read, project_id, logged, isPreview),
  ])
  const calls: Map<string, ReadCall> = mergeRows(
    rows,
    new Map(names.map(({ id, display_name }) => [id, display_name])),
  )
  for (const { id, counting: usage_counted_in } of counting) {
    const call = calls.get(id)
    if (call) calls.set(id, { ...call, usage_counted_in })
  }
  for (const [id, whole] of joined) {
    const call = calls.get(id)
    if (call) calls.set(id, { ...call, ...pickBodies(whole, call) })
  }
  for (const [id, unread] of isPreview ? unreadOf(rows, joined) : []) {
    const call = calls.get(id)
    if (call) calls.set(id, { ...call, unread })
  }
  return calls
}

/** Returns the bodies that were left out, by the ids of their calls. */
function unreadOf(
  rows: readonly LiveRow[],
  joined: ReadonlyMap<string, JoinedCall>,
): Map<string, PreviewedBody[]> {
  const unread = new Map<string, PreviewedBody[]>()
  for (const row of rows) {
    const { id, inputs_json, inputs_json_is_long, otel_dump_json_is_long } = row
    const { output_json, output_json_is_long } = row
    const isUnjoined = joined.get(id)?.isUnjoined ?? false
    const found = unread.get(id) ?? []
    if (otel_dump_json_is_long === 1) found.push('attributes')
    if (inputs_json_is_long === 1 || (isUnjoined && inputs_json !== null)) found.push('inputs')
    if (output_json_is_long === 1 || (isUnjoined && output_json !== null)) found.push('output')
    if (found.length > 0) unread.set(id, found)
  }
  return unread
}

/** Whether a row has what records change. */
function hasLoggedBody({ is_logged, inputs_json, otel_dump_json, output_json }: LiveRow): boolean {
  return is_logged === 1 && (inputs_json ?? otel_dump_json ?? output_json) !== null
}

interface JoinedCall extends CallTexts {
  /** Whether its span is too long to be read, and with it the bodies that records change. */
  readonly isUnjoined: boolean
}

/** The calls of ids with their records; the dump of the span is needed for it. */
async function readLogged(
  read: Read,
  project_id: string,
  ids: readonly string[],
  isPreview: boolean,
): Promise<Map<string, JoinedCall>> {
  if (ids.length === 0) return new Map()
  const sql = isPreview ? SQL.SELECT_LOGGED_PREVIEWS : SQL.SELECT_LIVE_ROWS
  const rows = await read<LiveRow>(sql, { project_id, ids })
  const long = new Set(rows.filter((row) => row.otel_dump_json_is_long === 1).map(({ id }) => id))
  const joined = await joinLogs(read, project_id, mergeRows(rows, new Map()))
  return new Map([...joined].map(([id, call]) => [id, { ...call, isUnjoined: long.has(id) }]))
}

/** Those bodies that a call was read with. */
function pickBodies(whole: JoinedCall, read: CallTexts): Partial<CallTexts> {
  const { inputs_json, otel_dump_json, output_json, isUnjoined } = whole
  if (isUnjoined) return { inputs_json: null, otel_dump_json: null, output_json: null }
  return {
    ...(read.inputs_json === null ? {} : { inputs_json }),
    ...(read.otel_dump_json === null ? {} : { otel_dump_json }),
    ...(read.output_json === null ? {} : { output_json }),
  }
}
