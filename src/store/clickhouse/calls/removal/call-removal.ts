/** Removes calls from ClickHouse, step by step: a month of one project, or some hundred calls by their ids. */
import { randomUUID } from 'node:crypto'
import { LOG_WAIT_US } from '../../../../domain/calls/call-logs.ts'
import type { CallIdentity } from '../../../../domain/calls/call-state.ts'
import type { CallExpiry, CallRemoval } from '../../../api/calls/calls.ts'
import type { ClickHouse } from '../../db/client.ts'
import { toStoreError } from '../../db/store-error.ts'
import { randomMark } from '../../hours/hour-changes.ts'
import { changeRemoved } from '../../hours/hours.sql.ts'
import { LIST_WAITING_LOGS } from '../call-logs.sql.ts'
import * as SQL from './call-removal.sql.ts'

/** Microseconds of a partition of `calls`. */
const PARTITION_US = 2_629_800_000_000
/** Limits of the ids of one statement: a deletion is kept and read again as text, by default of 256 KiB at most. */
const IDS_MAX = 1_000
const ID_BYTES_MAX = 100_000
/** Bytes of a time and of separators. */
const BYTES_BESIDE_ID = 24
/** Tables that grow with the calls. */
const FREED_TABLES = ['calls', 'call_ids', 'call_logs']
/** A partition is rewritten when this fraction of its rows is deleted. */
const FREED_FROM = 0.25

/** Calls of a project that began from a time until another. */
interface Span {
  readonly project_id: string
  readonly from_us: number
  readonly to_us: number
}

interface Start {
  readonly id: string
  readonly started_at_us: number
}

type Named = Pick<CallIdentity, 'id'>

interface PartitionRows {
  readonly partition: string
  readonly stored: number
  readonly deleted: number
}

interface Deletion {
  readonly id: string
  readonly deleted_at_us: number
  /** null: the data of the call is still there. */
  readonly began_us: number | null
}

interface FirstExpired {
  readonly found: number
  readonly first_us: number
}

interface FoundCalls {
  readonly found: number
  readonly calls: number
}

/** @param nowUs - the clock by which records of logs have waited long enough */
export function createCallRemoval(
  db: ClickHouse,
  nowUs: () => number = () => Date.now() * 1000,
): CallRemoval {
  const { expireSpan, expireEarlyEnds, forgetDeletions } = createExpiry(db)
  /** Until when this process has removed records without a span. */
  let waitedUntilUs = 0

  /** Removes records of logs whose spans did not come. */
  async function expireLogs(signal: AbortSignal): Promise<void> {
    const window = { from_us: waitedUntilUs, before_us: nowUs() - LOG_WAIT_US }
    while (!signal.aborted) {
      const found = await db.read<CallIdentity>(LIST_WAITING_LOGS, { ...window, limit: IDS_MAX })
      const [first] = found
      if (first === undefined) {
        waitedUntilUs = Math.max(waitedUntilUs, window.before_us)
        return
      }
      const { project_id } = first
      const ids = fittingIds(found.filter((log) => log.project_id === project_id))
      await db.remove(SQL.deleteOfIds('call_logs'), { project_id, ids })
    }
  }

  async function freeIds(project_id: string, ids: readonly string[]): Promise<number> {
    const freed = await noteFreed(db, project_id, ids)
    const starts = await db.read<Start>(SQL.LIST_STARTS, { project_id, ids })
    const times = starts.map(({ started_at_us }) => started_at_us)
    if (times.length > 0) await db.remove(SQL.DELETE_CALLS, { project_id, ids, times })
    // The ids come last: until then the next round finds the call again.
    for (const table of ['call_orphans', 'call_names', 'call_early_ends', 'call_logs'] as const) {
      await db.remove(SQL.deleteOfIds(table), { project_id, ids })
    }
    await removeRequests(db, SQL.deleteOfIds, { project_id, ids })
    await db.remove(SQL.deleteOfIds('call_ids'), { project_id, ids })
    return freed
  }

  /** @returns the number of removed calls */
  async function freeDeleted(signal: AbortSignal): Promise<number> {
    let calls = 0
    while (!signal.aborted) {
      const found = await db.read<CallIdentity>(SQL.LIST_DELETED, { limit: IDS_MAX })
      const [first] = found
      if (first === undefined) break
      const { project_id } = first
      await noteProject(db, project_id)
      const named = found.filter((call) => call.project_id === project_id)
      calls += await freeIds(project_id, fittingIds(named))
    }
    return calls
  }

  /** Frees deleted rows: ClickHouse does so only when it merges parts, which is rare for old ones. */
  async function freeDisk(signal: AbortSignal): Promise<void> {
    for (const table of FREED_TABLES) {
      for (const found of await db.read<PartitionRows>(SQL.countRows(table), {})) {
        if (signal.aborted) return
        const { partition, stored, deleted } = found
        if (deleted === 0 || deleted < stored * FREED_FROM) continue
        await db.remove(SQL.freePartition(table), { partition })
      }
    }
  }

  return {
    expireCalls: (expiry, signal) =>
      orStoreError(async () => {
        const { project_id, before_us } = expiry
        if (signal.aborted) return { calls: 0, isDone: false }
        const ends = await expireEarlyEnds(expiry)
        const [first] = await db.read<FirstExpired>(SQL.FIND_EXPIRED, { ...expiry })
        if (first === undefined || first.found === 0) {
          return { calls: ends + (await forgetDeletions(expiry, signal)), isDone: true }
        }
        await noteProject(db, project_id)
        const from_us = first.first_us
        const next = (Math.floor(from_us / PARTITION_US) + 1) * PARTITION_US
        const calls = await expireSpan({ project_id, from_us, to_us: Math.min(next, before_us) })
        return { calls: ends + calls, isDone: false }
      }),
    removeDeleted: (signal) =>
      orStoreError(async () => {
        try {
          const calls = await freeDeleted(signal)
          await expireLogs(signal)
          return calls
        } finally {
          // Also after a failure, which may come again in every round.
          await freeDisk(signal)
        }
      }),
  }
}

/** Removes what identifies the requests of calls, and of calls that only they name. */
async function removeRequests(
  db: ClickHouse,
  deleteRequests: (table: 'call_requests' | 'call_doubles') => string,
  parameters: { readonly project_id: string; readonly [name: string]: unknown },
): Promise<void> {
  const { project_id } = parameters
  for (const table of ['call_requests', 'call_doubles'] as const) {
    await db.remove(deleteRequests(table), parameters)
    await db.remove(SQL.deleteLoneRequests(table), { project_id })
  }
}

/** The steps of an expiry. */
function createExpiry(db: ClickHouse) {
  /** Runs a step for all calls of a list; the step must remove them from the list. */
  async function drain(sql: string, span: Span, act: (ids: readonly string[]) => Promise<unknown>) {
    while (true) {
      const found = await db.read<Named>(sql, { ...span, limit: IDS_MAX })
      if (found.length === 0) return
      await act(fittingIds(found))
    }
  }

  return {
    /** @returns the number of removed calls that were not deleted before */
    async expireSpan(span: Span): Promise<number> {
      const { project_id } = span
      const [counted] = await db.read<{ calls: number }>(SQL.COUNT_OF_TIME, { ...span })
      await drain(SQL.LIST_UNFREED, span, (ids) => noteFreed(db, project_id, ids))
      const deleteNames = SQL.deleteOfIds('call_names')
      await drain(SQL.LIST_NAMED, span, (ids) => db.remove(deleteNames, { project_id, ids }))
      await db.remove(SQL.deleteOfTime('call_orphans'), { ...span })
      const later = await db.read<{ hour: number }>(SQL.LIST_LATER_PARENTS, { ...span })
      const mark = randomMark()
      const change = async (column: 'begun' | 'ended') => {
        await db.remove(changeRemoved(column), { ...span, mark })
        const rows = later.map(({ hour }) => ({ project_id, hour, [column]: mark }))
        if (rows.length > 0) await db.insert('hour_changes', rows, randomUUID())
      }
      await change('begun')
      await db.remove(SQL.deleteOfTime('calls'), { ...span })
      await change('ended')
      await removeRequests(db, SQL.deleteOfStarted, { ...span })
      await db.remove(SQL.deleteOfStarted('call_logs'), { ...span })
      await db.remove(SQL.deleteOfTime('call_ids'), { ...span })
      return counted?.calls ?? 0
    },
    /** Also removes ends whose start has arrived, which are no longer read. */
    async expireEarlyEnds(expiry: CallExpiry): Promise<number> {
      const [counted] = await db.read<FoundCalls>(SQL.COUNT_EARLY_ENDS, { ...expiry })
      if (counted === undefined || counted.found === 0) return 0
      await db.remove(SQL.DELETE_EARLY_ENDS, { ...expiry })
      return counted.calls
    },
    /** Every read checks the deletions, so deletions of removed calls must not be kept forever. */
    async forgetDeletions(expiry: CallExpiry, signal: AbortSignal): Promise<number> {
      const { project_id } = expiry
      let [after, forgotten] = ['', 0]
      while (!signal.aborted) {
        const parameters = { ...expiry, after, limit: IDS_MAX }
        const ids = fittingIds(await db.read<Named>(SQL.LIST_OLD_DELETIONS, parameters))
        if (ids.length === 0) break
        after = ids.at(-1) as string
        const kept = await db.read<Start>(SQL.LIST_STARTS, { project_id, ids })
        const known = new Set(kept.map(({ id }) => id))
        const gone = ids.filter((id) => !known.has(id))
        if (gone.length === 0) continue
        await db.remove(SQL.deleteOfIds('call_deletions'), { project_id, ids: gone })
        forgotten += gone.length
      }
      return forgotten
    },
  }
}

/** Idempotent. */
function noteProject(db: ClickHouse, project_id: string): Promise<void> {
  return db.insert('call_projects', [{ project_id }], randomUUID())
}

/** Adds the start times of calls to their deletions before the calls are removed. @returns their number */
async function noteFreed(
  db: ClickHouse,
  project_id: string,
  ids: readonly string[],
): Promise<number> {
  const [deletions, starts] = await Promise.all([
    db.read<Deletion>(SQL.LIST_DELETIONS, { project_id, ids }),
    db.read<Start>(SQL.LIST_STARTS, { project_id, ids }),
  ])
  const began = new Map(starts.map(({ id, started_at_us }) => [id, started_at_us]))
  const rows = deletions
    .filter(({ began_us }) => began_us === null)
    .map(({ id, deleted_at_us }) => ({
      project_id,
      id,
      deleted_at_us,
      began_us: began.get(id) ?? deleted_at_us,
    }))
  if (rows.length > 0) await db.insert('call_deletions', rows, randomUUID())
  return rows.length
}

/** Returns as many of the first ids as fit into a statement; at least one. */
function fittingIds(calls: readonly Named[]): string[] {
  const ids: string[] = []
  let bytes = 0
  for (const { id } of calls) {
    // Each character may be escaped.
    bytes += 2 * Buffer.byteLength(id) + BYTES_BESIDE_ID
    if (ids.length > 0 && bytes > ID_BYTES_MAX) break
    ids.push(id)
  }
  return ids
}

async function orStoreError<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw toStoreError(error)
  }
}
