/** The worker's side of the read pool: takes one job at a time, answers its value or its error. */
import { parentPort, workerData } from 'node:worker_threads'
import { type Connection, openReadOnlyDatabase } from '../db/connection.ts'
import { toStoreError } from '../db/store-error.ts'
import { type Failure, renderFailure } from '../db/thread-failure.ts'
import { lowerThreadPriority } from '../db/thread-priority.ts'
import type { ReadJobs } from './read-jobs.ts'

/** What a worker is started with. */
export interface ReadWorkerData {
  /** The database file. */
  readonly path: string
  /** As of lowerThreadPriority; 0: as all others. */
  readonly niceness: number
  /** Four bytes: the id of the job that nobody waits for any more. */
  readonly cancelled: SharedArrayBuffer
}

/** To the worker: a job, or null to end. */
export type ReadWorkerRequest = { readonly id: number; name: string; input: unknown } | null

/** From the worker. */
export interface ReadWorkerReply extends Failure {
  readonly id: number
  readonly value?: unknown
}

/** A job that stopped because nobody waits for it. */
export class ReadCancelledError extends Error {}

/**
 * Runs one job in a read transaction, so that all its statements see the same commits.
 *
 * @throws ApiError, and whatever the job throws
 */
export function runReadJob(
  db: Connection,
  jobs: ReadJobs,
  { name, input }: { readonly name: string; readonly input: unknown },
  checkpoint: () => void,
): unknown {
  const job = Object.hasOwn(jobs, name) ? jobs[name] : undefined
  if (!job) throw new Error(`there is no read job ${name}`)
  try {
    return db.transaction(() => job(db, input as never, checkpoint))()
  } catch (error) {
    throw toStoreError(error)
  }
}

/** Serves the jobs to the pool that started this thread, until it sends null. */
export function serveReadJobs(jobs: ReadJobs): void {
  const port = parentPort
  if (port === null) throw new Error('a read worker runs in a worker thread')
  const { path, niceness, cancelled } = workerData as ReadWorkerData
  if (niceness > 0) lowerThreadPriority(niceness)
  const flag = new Int32Array(cancelled)
  let db: Connection | null = null

  function answer(request: NonNullable<ReadWorkerRequest>): ReadWorkerReply {
    const { id } = request
    const checkpoint = () => {
      if (Atomics.load(flag, 0) === id) throw new ReadCancelledError()
    }
    try {
      db ??= openReadOnlyDatabase(path)
      return { id, value: runReadJob(db, jobs, request, checkpoint) }
    } catch (thrown) {
      return { id, ...renderFailure(toStoreError(thrown)) }
    }
  }

  port.on('message', (request: ReadWorkerRequest) => {
    if (request !== null) {
      const reply = answer(request)
      return port.postMessage(reply, ownBuffers(reply.value))
    }
    db?.close()
    port.close()
  })
}

/** The buffers of the byte arrays of a value, and of its lists of them: they go to the caller without a copy. */
function ownBuffers(value: unknown): ArrayBuffer[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
  const buffers = new Set<ArrayBuffer>()
  for (const member of Object.values(value)) {
    const list: readonly unknown[] = Array.isArray(member) ? member : [member]
    for (const bytes of list) {
      if (!(bytes instanceof Uint8Array)) break
      const { buffer } = bytes as Uint8Array<ArrayBuffer>
      if (bytes.byteLength === buffer.byteLength) buffers.add(buffer)
    }
  }
  return [...buffers]
}
