/**
 * The writer of calls: one batch at a time, of all waiting writes. It looks up what is stored of the calls that the
 * batch names, decides, inserts, and answers. An insert with an unknown outcome is retried with the same rows and
 * token until ClickHouse reports it: until then nothing else is written, so that nothing is stored twice.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { keyOf, type PartResult } from '../../../../domain/calls/call-state.ts'
import { type CallParts, dependsOnReporter } from '../../../../domain/calls/new-call.ts'
import { type RecordedCall, resolveRecordedCall } from '../../../../domain/calls/recorded-call.ts'
import { ApiError } from '../../../../errors.ts'
import { type Failure, renderFailure } from '../../../../threads/thread-failure.ts'
import type { CallDeletion, CallLogs, CallRename } from '../../../api/calls/calls.ts'
import type { WriteMetrics } from '../../../api/metrics.ts'
import { sizeOf } from '../../../base/db/sizes.ts'
import type { ClickHouse } from '../../db/client.ts'
import { createInserts, type Inserts } from '../../db/inserts.ts'
import { partsOf } from '../../db/reads.ts'
import { toStoreError } from '../../db/store-error.ts'
import { type ChangedCall, createHourChanges, type HourChanges } from '../../hours/hour-changes.ts'
import { SELECT_DOUBLES } from '../../usage/requests.sql.ts'
import { createLogWrites } from '../call-logs.ts'
import { findStates } from '../call-lookups.ts'
import { createBatch, type RequestRow } from './batch-rows.ts'
import { deleteCalls } from './delete-calls.ts'
import { createNestedReports, type NestedReportsCache } from './nested-reports.ts'
import { toOrphanRows } from './orphans.ts'
import { findReportedTo } from './reported-parents.ts'

interface CallWritesOptions {
  /** Writes that may wait. */
  readonly queueMax: number
  /** Bytes of them. */
  readonly queueBytesMax: number
  /** Milliseconds after which a waiting caller is told to retry; default 10 s. */
  readonly waitMs?: number | undefined
  /** How long `close` waits for queued writes. */
  readonly closeMs: number
}

export interface CallWrites {
  /** @throws ApiError server_overloaded, store_unavailable: it may or may not be stored, and can be sent again */
  writeParts(parts: readonly CallParts[]): Promise<readonly PartResult[]>
  renameCall(rename: CallRename): Promise<void>
  deleteCalls(deletion: CallDeletion): Promise<readonly string[]>
  writeLogs(logs: CallLogs): Promise<number>
  /** Records that the writes so far have ended, for which the building of their hours waits. */
  flushChanges(): Promise<void>
  /** Greater than any before. */
  nextVersion(): number
  /** Writes the queue. */
  close(): Promise<void>
  figures(): WriteMetrics
}

/** Limits of one batch. */
const BATCH_PARTS_MAX = 5_000
const BATCH_BYTES_MAX = 16 * 1024 * 1024
const WAIT_MS = 10_000
/** Limit: how long an insert delays the end of the process. */
const STOP_MS_MAX = 300

interface Job {
  readonly parts: readonly CallParts[]
  readonly rename: CallRename | null
  readonly deletion: CallDeletion | null
  readonly logs: CallLogs | null
  readonly bytes: number
  resolve(value: unknown): void
  reject(error: unknown): void
}

export function createCallWrites(db: ClickHouse, options: CallWritesOptions): CallWrites {
  const { queueMax, queueBytesMax, waitMs = WAIT_MS, closeMs } = options
  const inserts = createInserts(db)
  const changes = createHourChanges(inserts.insert)
  const known = { nested: createNestedReports(), changes }
  const logs = createLogWrites(db, inserts)
  const waiting: Job[] = []
  let waitingBytes = 0
  let written: readonly Job[] = []
  let running: Promise<void> | null = null
  let isClosed = false
  let refused = 0

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      const batch = takeBatch(waiting)
      written = batch
      try {
        const [first] = batch
        if (first?.deletion)
          first.resolve(await deleteCalls(db, first.deletion, inserts.insert, changes))
        else if (first?.logs) first.resolve(await logs.write(first.logs))
        else await writeBatch(db, batch, inserts, known)
      } catch (error) {
        for (const job of batch) job.reject(toStoreError(error))
      }
      for (const { bytes } of batch) waitingBytes -= bytes
    }
    // At once: a write that came before the promise has settled would wait for the next one.
    running = null
  }

  function push(
    fields: Partial<Pick<Job, 'parts' | 'rename' | 'deletion' | 'logs'>>,
  ): Promise<unknown> {
    if (isClosed) throw new ApiError('server_draining')
    const bytes = sizeOf(fields)
    const isFull = waiting.length >= queueMax || waitingBytes + bytes > queueBytesMax
    if (isFull && waiting.length > 0) {
      refused += 1
      throw new ApiError('server_overloaded', { retryAfterS: 1 })
    }
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const none = { parts: [], rename: null, deletion: null, logs: null }
    const job: Job = { ...none, ...fields, bytes, resolve, reject }
    const timer = setTimeout(() => {
      const at = waiting.indexOf(job)
      // The running write continues: its caller is told that it may or may not be stored.
      if (at >= 0) {
        waiting.splice(at, 1)
        waitingBytes -= bytes
      }
      reject(toStoreError(new Error('ClickHouse did not answer in time')))
    }, waitMs)
    waiting.push(job)
    waitingBytes += bytes
    running ??= run()
    return promise.finally(() => clearTimeout(timer))
  }

  return {
    writeParts: async (parts) => (await push({ parts })) as readonly PartResult[],
    async renameCall(rename) {
      await push({ rename })
    },
    deleteCalls: async (deletion) => (await push({ deletion })) as readonly string[],
    writeLogs: async (given) => (await push({ logs: given })) as number,
    flushChanges: changes.flush,
    nextVersion: inserts.nextVersion,
    async close() {
      isClosed = true
      const ended = Promise.resolve(running)
        .then(changes.flush)
        .catch(() => undefined)
      await Promise.race([ended, sleep(closeMs, undefined, { ref: false })])
      inserts.stop()
      await Promise.race([running, sleep(STOP_MS_MAX, undefined, { ref: false })])
      for (const job of [...written, ...waiting.splice(0)]) job.reject(stopped())
    },
    figures: () => ({ store: 'clickhouse', waiting: waiting.length, waitingBytes, refused }),
  }
}

/** Takes the first waiting writes that fit into a batch. */
function takeBatch(waiting: Job[]): Job[] {
  const batch: Job[] = []
  let [parts, bytes] = [0, 0]
  for (const job of waiting) {
    const isFull = parts + job.parts.length > BATCH_PARTS_MAX || bytes + job.bytes > BATCH_BYTES_MAX
    if (batch.length > 0 && (isFull || isAlone(job) || isAlone(batch[0]))) break
    batch.push(job)
    parts += job.parts.length
    bytes += job.bytes
  }
  waiting.splice(0, batch.length)
  return batch
}

/** Whether a write makes a batch of its own. */
function isAlone(job: Job | undefined): boolean {
  return (job?.deletion ?? job?.logs ?? null) !== null
}

async function writeBatch(
  db: ClickHouse,
  batch: readonly Job[],
  { insert, nextVersion }: Inserts,
  { nested, changes }: { readonly nested: NestedReportsCache; readonly changes: HourChanges },
): Promise<void> {
  const names = batch.flatMap(({ parts, rename }) => [
    ...parts.flatMap(({ start, end }) => [...(start ? [start] : []), ...(end ? [end] : [])]),
    ...(rename ? [rename] : []),
  ])
  const ends = batch.flatMap(({ parts }) => parts.flatMap(({ end }) => end ?? []))
  const reporting = new Set(ends.filter(dependsOnReporter).map(keyOf))
  const decide = async (withDeleted: boolean) => {
    const found = await findStates(db, names, { withDeleted, reporting })
    const calls = createBatch(found.calls, nested)
    return { found, calls, results: batch.map((job) => decideJob(job, calls)) }
  }
  // Only what is refused can depend on deletions: most batches need not look them up.
  const hasRename = batch.some(({ rename }) => rename !== null)
  let decided = await decide(hasRename)
  if (!hasRename && decided.results.some(hasRefusal)) decided = await decide(true)
  const { found, calls, results } = decided
  const rows = calls.rows(nextVersion())
  const orphans = toOrphanRows(calls.starts(), found)
  // Before the calls, so that a call that can be listed can always be found by its id.
  const reported = await findReportedTo(db, rows.calls, found.parents)
  const changed = changes.begin([...(rows.calls as ChangedCall[]), ...reported], () =>
    findReportedTo(db, rows.calls),
  )
  const others = { ...rows, calls: [], call_orphans: orphans.found }
  const inserted = Object.entries(others).map(([table, ofTable]) => insert(table, ofTable))
  await settleAll([...inserted, changed.record()])
  // Looked up after the insert: of two processes that write a request at once, the later one sees both.
  await insert('call_doubles', await findDoubles(db, rows.call_requests))
  // What came before may have been retried for long.
  await changed.renew()
  await insert('calls', rows.calls, changed.renew)
  changed.end()
  await insert('call_orphans', orphans.adopted)
  batch.forEach((job, at) => {
    const result = results[at]
    if (result && 'error' in result) job.reject(result.error)
    else job.resolve(result?.value)
  })
}

/** Settles when all have ended: nothing is written beside the next batch. @throws the first error */
async function settleAll(inserts: readonly Promise<void>[]): Promise<void> {
  for (const one of await Promise.allSettled(inserts)) {
    if (one.status === 'rejected') throw one.reason
  }
}

/** The calls of the requests of a batch that have several. */
async function findDoubles(db: ClickHouse, rows: readonly RequestRow[]): Promise<RequestRow[]> {
  const doubles: RequestRow[] = []
  for (const [project_id, calls] of Map.groupBy(rows, (row) => row.project_id)) {
    for (const requests of partsOf([...new Set(calls.map(({ request }) => request))])) {
      const found = await db.read<{ request: string; ids: string[] }>(SELECT_DOUBLES, {
        project_id,
        requests,
      })
      for (const { request, ids } of found) {
        doubles.push(...ids.map((id) => ({ project_id, request, id })))
      }
    }
  }
  return doubles
}

type Decision = { readonly value: readonly PartResult[] } | { readonly error: unknown }

function decideJob({ parts, rename }: Job, calls: ReturnType<typeof createBatch>): Decision {
  try {
    if (rename) calls.rename(rename)
    return { value: parts.map(calls.writePart) }
  } catch (error) {
    return { error }
  }
}

function hasRefusal(decision: Decision): boolean {
  return 'error' in decision || decision.value.some((result) => 'error' in result)
}

/** It may or may not be stored. */
function stopped(): ApiError {
  return new ApiError('store_unavailable', { retryAfterS: 1 })
}

/** @returns the errors of refused calls; the others are stored */
export async function recordCalls(
  writes: Pick<CallWrites, 'writeParts'>,
  calls: Iterable<RecordedCall>,
): Promise<Failure[]> {
  const parts: CallParts[] = []
  const refused: Failure[] = []
  for (const call of calls) {
    try {
      parts.push(resolveRecordedCall(call))
    } catch (error) {
      refused.push(renderFailure(error))
    }
  }
  const written = await writes.writeParts(parts)
  return [...refused, ...written.flatMap(({ error }) => (error ? [renderFailure(error)] : []))]
}
