/** The stores of training and of its models in SQLite. */
import { randomUUID } from 'node:crypto'
import type { Lease, TrainingQueue } from '../../api/training/training-queue.ts'
import { createPreviewModelStore } from '../../base/models/model-store.ts'
import { createJobNotifier } from '../../base/training/job-moves.ts'
import { requireLeased } from '../../base/training/job-steps.ts'
import { createTrainingQueue } from '../../base/training/queue-store.ts'
import type { TrainingParts, TrainingWrites } from '../../base/training/training-writes.ts'
import type { Connection } from '../db/connection.ts'
import type { FileFolder } from '../files/file-folder.ts'
import { type ReceivedBytes, receiveBytes } from '../files/receive-file.ts'
import type { CheckpointArtifacts } from '../models/checkpoint-artifacts.ts'
import { createCheckpointStore } from '../models/checkpoints.ts'
import { createStepRuns } from '../write/step-runs.ts'
import type { Writes } from '../write/writes.ts'
import { createTrainingJobStore } from './training-jobs.ts'
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
