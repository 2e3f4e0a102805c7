/** Finds stored calls by their ids. */
import {
  type CallIdentity,
  type CallState,
  isSameSpan,
  keyOf,
} from '../../../domain/calls/call-state.ts'
import type { CallTexts } from '../../../domain/calls/call-view.ts'
import type { CallEnd } from '../../../domain/calls/new-call.ts'
import type { ClickHouse } from '../db/client.ts'
import { HAS_DOUBLED_IDS, SELECT_COUNTING } from '../usage/requests.sql.ts'
import { type BatchCall, unknownCall } from './batch-rows.ts'
import {
  type FoundRow,
  hashEnd,
  hashStart,
  type KnownStart,
  mergeRows,
  toKnownStart,
} from './call-rows.ts'
import * as SQL from './calls.sql.ts'

/** Runs a read on behalf of the server. */
type Read = <Found>(sql: string, parameters: Readonly<Record<string, unknown>>) => Promise<Found[]>

/** Limit: ids of one statement. */
const IDS_MAX = 1000

interface KnownRow extends KnownStart {
  readonly id: string
  readonly has_start: 0 | 1
  readonly has_end: 0 | 1
  readonly start_hash: string
  readonly end_hash: string
}

interface EarlyEnd {
  readonly id: string
  readonly end_hash: string
  readonly end_json: string
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

/** Returns the stored states of calls, by keyOf. @throws ApiError store_unavailable */
export async function findStates(
  db: ClickHouse,
  names: readonly CallIdentity[],
  options: StatesOptions,
): Promise<Map<string, BatchCall>> {
  const states = new Map<string, BatchCall>()
  for (const name of names) states.set(keyOf(name), unknownCall())
  const projects = Map.groupBy(names, ({ project_id }) => project_id)
  const parts = [...projects].flatMap(([project_id, named]) =>
    partsOf([...new Set(named.map(({ id }) => id))]).map((ids) => ({ project_id, ids })),
  )
  await Promise.all(parts.map((part) => fillStates(db, states, part, options)))
  return states
}

async function fillStates(
  db: ClickHouse,
  states: ReadonlyMap<string, BatchCall>,
  part: { readonly project_id: string; readonly ids: readonly string[] },
  { withDeleted, reporting = NONE }: StatesOptions,
): Promise<void> {
  const { project_id } = part
  const ids = part.ids.filter((id) => reporting.has(keyOf({ project_id, id })))
  const callOf = (id: string) => states.get(keyOf({ project_id, id })) as BatchCall
  const [rows, early, deleted, attributes] = await Promise.all([
    db.read<KnownRow>(SQL.SELECT_KNOWN_ROWS, part),
    db.read<EarlyEnd>(SQL.SELECT_EARLY_ENDS, part),
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
  for (const { id, end_hash, end_json } of early) {
    const call = callOf(id)
    if (call.state?.end) continue
    addToState(call, { end: toEnd(end_hash) })
    call.earlyEnd = JSON.parse(end_json) as CallEnd
  }
  for (const { id } of deleted) addToState(callOf(id), { isDeleted: true })
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
  const [rows, beside] = await Promise.all([
    read<FoundRow>(SQL.SELECT_ROWS, part),
    readJoined(read, part),
  ])
  return toLiveCalls(rows, beside).get(id) ?? null
}

/** Parts of calls in other tables. */
interface Beside {
  readonly names: ReadonlyMap<string, string | null>
  readonly deleted: ReadonlySet<string>
  /** The calls at which the usage of others counts, by the ids of these. */
  readonly counting: ReadonlyMap<string, string>
}

export async function readJoined(
  read: Read,
  part: { readonly project_id: string; readonly ids: readonly string[] },
): Promise<Beside> {
  const [names, deleted, counting] = await Promise.all([
    read<{ id: string; display_name: string | null }>(SQL.SELECT_NAMES, part),
    read<{ id: string }>(SQL.SELECT_DELETED, part),
    findCounting(read, part),
  ])
  return {
    counting,
    names: new Map(names.map(({ id, display_name }) => [id, display_name])),
    deleted: new Set(deleted.map(({ id }) => id)),
  }
}

/** Few calls share their request with others, and only for these the statement is worth its time. */
async function findCounting(
  read: Read,
  part: { readonly project_id: string; readonly ids: readonly string[] },
): Promise<Map<string, string>> {
  if ((await read(HAS_DOUBLED_IDS, part)).length === 0) return new Map()
  const found = await read<{ id: string; counting: string }>(SELECT_COUNTING, part)
  return new Map(found.map(({ id, counting }) => [id, counting]))
}

export function toLiveCalls(
  rows: readonly FoundRow[],
  { names, deleted, counting }: Beside,
): Map<string, CallTexts> {
  const live = rows.filter(({ id }) => !deleted.has(id))
  const calls = mergeRows(live, names)
  for (const [id, usage_counted_in] of counting) {
    const call = calls.get(id)
    if (call) calls.set(id, { ...call, usage_counted_in })
  }
  return calls
}

/** Splits ids into parts for one statement each. */
export function partsOf(ids: readonly string[]): string[][] {
  const parts: string[][] = []
  for (let at = 0; at < ids.length; at += IDS_MAX) parts.push(ids.slice(at, at + IDS_MAX))
  return parts
}
