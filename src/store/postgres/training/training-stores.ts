/** The stores of training and of its models in PostgreSQL. Their writes are serialized across processes. */
import { randomUUID } from 'node:crypto'
import type { Client } from 'pg'
import { ApiError } from '../../../errors.ts'
import type { CheckpointStore } from '../../api/models/checkpoints.ts'
import type { TrainingJobStore, TrainingQueue } from '../../api/training/training-queue.ts'
import type { StepRuns } from '../../base/db/steps.ts'
import { createCheckpointRows } from '../../base/models/model-store.ts'
import { createJobNotifier, type JobNotifier } from '../../base/training/job-moves.ts'
import { findJob, findJobView, listEvents, listJobs } from '../../base/training/job-steps.ts'
import { chunksOf } from '../../base/training/payload-chunks.ts'
import { viewStatements } from '../../base/training/training-jobs.sql.ts'
import {
  createTrainingWrites,
  type TrainingParts,
  type TrainingWrites,
} from '../../base/training/training-writes.ts'
import type { Blobs } from '../blobs/blobs.ts'
import { createOwnConnection, type Postgres } from '../db/client.ts'
import { POSTGRES } from '../db/dialect.sql.ts'
import { createStepRuns } from '../db/run-steps.ts'
import { LISTEN_QUEUE, LOCK_QUEUE, NOTIFY_QUEUE, QUEUE } from './training-queue.sql.ts'

const WRITES = createTrainingWrites(randomUUID, QUEUE)

/** The writes after which another job may be claimed: all processes are notified. */
const TOLD: ReadonlySet<keyof TrainingWrites> = new Set([
  'insert_job',
  'cancel_job',
  'complete_job',
  'fail_attempt',
  'release_job',
  'delete_model',
])

/** Each write is a transaction that locks the queue. */
export function createTrainingRuns(db: Postgres): StepRuns<TrainingWrites> {
  return {
    ...createStepRuns(db, WRITES),
    write: (name, input) =>
      db.transaction(async (tx) => {
        await tx.all(LOCK_QUEUE)
        if (TOLD.has(name)) await tx.all(NOTIFY_QUEUE)
        return createStepRuns(tx, WRITES).write(name, input)
      }),
  }
}

export function createCheckpointStore(parts: TrainingParts, blobs: Blobs): CheckpointStore {
  return {
    ...createCheckpointRows(parts),
    async openArtifact({ path, bytes }) {
      const artifact = await blobs.open(path, bytes)
      if (artifact === null) throw new ApiError('checkpoint_not_found')
      return artifact
    },
  }
}

export function createArtifactReceiver(
  { runs: { write } }: Pick<TrainingParts, 'runs'>,
  { receive, removeUnused }: Blobs,
): TrainingQueue['receiveArtifact'] {
  return async (source, bytesMax) => {
    const path = `artifacts/${randomUUID()}`
    const received = await receive(path, source, bytesMax)
    const { sha256: staged_sha256, bytes: staged_bytes } = received
    return {
      ...received,
      async stage(lease) {
        const staged = { staged_path: path, staged_sha256, staged_bytes }
        await removeUnused([await write('stage_artifact', { lease, staged })])
      },
      discard: () => removeUnused([path]),
    }
  }
}

const VIEWS = viewStatements(POSTGRES)

export function createTrainingJobStore(
  { runs: { read, write }, notifier }: TrainingParts,
  blobs: Blobs,
): TrainingJobStore {
  return {
    async insertJob(job, payload) {
      const payload_path = `payloads/${job.id}.${randomUUID()}`
      const chunks = typeof payload === 'string' ? chunksOf(payload) : payload
      const received = await blobs.receive(payload_path, chunks, Number.POSITIVE_INFINITY)
      const { sha256: payload_sha256, bytes: payload_bytes } = received
      const row = { ...job, payload_path, payload_sha256, payload_bytes }
      try {
        const stored = await write('insert_job', row)
        if (stored.id === job.id) notifier.notify()
        return stored
      } finally {
        // The payload of a repeated request, or of a refused job.
        await blobs.removeUnused([payload_path])
      }
    },
    findJob: (id) => read(findJob(id)),
    findJobView: (id) => read(findJobView(id)),
    listJobs: (listing) => read(listJobs(VIEWS, listing)),
    listEvents: (listing) => read(listEvents(listing)),
    async cancelJob(id, now_us) {
      await write('cancel_job', { id, now_us })
      notifier.notify()
    },
    async openPayload({ payload_path, payload_bytes }) {
      const payload = await blobs.open(payload_path, payload_bytes)
      if (payload === null) throw new ApiError('store_unavailable', { retryAfterS: 5 })
      return payload
    },
  }
}

const RETRY_MS = 1_000

interface QueueNotifier extends JobNotifier {
  close(): Promise<void>
}

export function createQueueNotifier(url: string): QueueNotifier {
  const notifier = createJobNotifier()
  let client: Client | null = null
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  let isLate = false

  async function listen(): Promise<void> {
    const own = createOwnConnection(url)
    client = own
    let isOver = false
    const again = () => {
      if (isOver) return
      isOver = true
      own.end().catch(() => undefined)
      if (isClosed) return
      isLate = true
      timer = setTimeout(listen, RETRY_MS)
      timer.unref()
    }
    own.on('end', again)
    own.on('error', again)
    own.on('notification', notifier.notify)
    try {
      await own.connect()
      await own.query(LISTEN_QUEUE)
      // Notifications sent while there was no connection are lost.
      if (isLate) notifier.notify()
    } catch {
      again()
    }
  }

  const started = listen()
  return {
    ...notifier,
    async close() {
      isClosed = true
      clearTimeout(timer)
      await started
      await client?.end().catch(() => undefined)
    },
  }
}
