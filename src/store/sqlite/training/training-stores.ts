/** The stores of training and of its models in SQLite. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { ApiError } from '../../../errors.ts'
import type { CheckpointStore } from '../../api/models/checkpoints.ts'
import type { Lease, TrainingJobStore, TrainingQueue } from '../../api/training/training-queue.ts'
import { createCheckpointRows, createPreviewModelStore } from '../../base/models/model-store.ts'
import { createJobNotifier } from '../../base/training/job-moves.ts'
import {
  findJob,
  findJobView,
  listEvents,
  listJobs,
  requireLeased,
} from '../../base/training/job-steps.ts'
import { chunksOf } from '../../base/training/payload-chunks.ts'
import { createTrainingQueue } from '../../base/training/queue-store.ts'
import { viewStatements } from '../../base/training/training-jobs.sql.ts'
import type { TrainingParts, TrainingWrites } from '../../base/training/training-writes.ts'
import type { Connection } from '../db/connection.ts'
import { SQLITE } from '../db/dialect.sql.ts'
import { type FileFolder, PAYLOADS_DIRECTORY } from '../files/file-folder.ts'
import { onDisk, type ReceivedBytes, receiveBytes } from '../files/receive-file.ts'
import type { CheckpointArtifacts } from '../models/checkpoint-artifacts.ts'
import { createStepRuns } from '../write/step-runs.ts'
import type { Writes } from '../write/writes.ts'
import { QUEUE } from './training-queue.sql.ts'

interface TrainingFiles {
  readonly payloads: FileFolder
  readonly artifacts: CheckpointArtifacts
}

/** @param db - for reads on this thread */
export function createTrainingStores(
  db: Connection,
  writes: Writes,
  { payloads, artifacts }: TrainingFiles,
) {
  const runs = createStepRuns<TrainingWrites>(db, writes)
  const parts = { runs, notifier: createJobNotifier(), removeUnused: artifacts.removeUnused }
  return {
    previewModels: createPreviewModelStore(parts),
    trainingJobs: createTrainingJobStore(db, parts, payloads),
    trainingQueue: createTrainingQueue(parts, QUEUE, createArtifactReceiver(parts, artifacts)),
    checkpoints: createCheckpointStore(parts, artifacts),
  }
}

function createArtifactReceiver(
  { runs: { read, write } }: Pick<TrainingParts, 'runs'>,
  { folder, pathOf, removeUnused }: CheckpointArtifacts,
): TrainingQueue['receiveArtifact'] {
  async function stage(lease: Lease, file: ReceivedBytes): Promise<void> {
    const staged_path = pathOf(await read(requireLeased(lease)), randomUUID())
    await file.keep(staged_path)
    try {
      const staged = { staged_path, staged_sha256: file.sha256, staged_bytes: file.bytes }
      await removeUnused([await write('stage_artifact', { lease, staged })])
    } catch (error) {
      await removeUnused([staged_path])
      throw error
    }
  }

  return async (source, bytesMax) => {
    const file = await receiveBytes(source, bytesMax, folder)
    const { sha256, bytes, discard } = file
    return { sha256, bytes, stage: (lease) => stage(lease, file), discard }
  }
}

const VIEWS = viewStatements(SQLITE)

/** @param payloads - the folder of the payloads */
export function createTrainingJobStore(
  db: Pick<Connection, 'open'>,
  { runs: { read, write }, notifier }: Pick<TrainingParts, 'runs' | 'notifier'>,
  payloads: FileFolder,
): TrainingJobStore {
  return {
    async insertJob(job, payload) {
      const payload_path = join(PAYLOADS_DIRECTORY, `${job.id}.json`)
      // A file at this path belongs to another job and must not be overwritten.
      if (await payloads.has(payload_path)) throw new ApiError('store_unavailable')
      const chunks = typeof payload === 'string' ? chunksOf(payload) : payload
      const file = await receiveBytes(chunks, Number.POSITIVE_INFINITY, payloads)
      const { sha256: payload_sha256, bytes: payload_bytes } = file
      try {
        await file.keep(payload_path)
        const row = { ...job, payload_path, payload_sha256, payload_bytes }
        const stored = await write('insert_job', row)
        if (stored.id === job.id) notifier.notify()
        // The job existed before: its payload is only needed when the stored file is missing.
        else if (await payloads.has(stored.payload_path)) await payloads.remove(payload_path)
        else await file.keep(stored.payload_path)
        return stored
      } catch (error) {
        // A writer that died may have committed the job before.
        if (db.open && (await read(findJob(job.id))) === null) await payloads.remove(payload_path)
        throw error
      } finally {
        await file.discard()
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
    openPayload: ({ payload_path }) => onDisk(() => payloads.openReader(payload_path)),
  }
}

export function createCheckpointStore(
  parts: Omit<TrainingParts, 'notifier'>,
  { folder }: Pick<CheckpointArtifacts, 'folder'>,
): CheckpointStore {
  return {
    ...createCheckpointRows(parts),
    async openArtifact({ path }) {
      try {
        return await folder.openReader(path)
      } catch (cause) {
        // A file that is there and cannot be opened is a fault of the disk or of the process.
        if (await folder.has(path)) {
          throw new ApiError('store_unavailable', { cause, retryAfterS: 5 })
        }
        throw new ApiError('checkpoint_not_found', { cause })
      }
    },
  }
}
