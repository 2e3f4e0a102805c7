/** The stores of training and of its models in SQLite. */
import { createPreviewModelStore } from '../../base/models/model-store.ts'
import { createJobNotifier } from '../../base/training/job-notifier.ts'
import { createTrainingQueue } from '../../base/training/queue-store.ts'
import type { TrainingWrites } from '../../base/training/training-writes.ts'
import type { Connection } from '../db/connection.ts'
import type { FileFolder } from '../files/file-folder.ts'
import type { CheckpointArtifacts } from '../models/checkpoint-artifacts.ts'
import { createCheckpointStore } from '../models/checkpoints.ts'
import { createStepRuns } from '../write/step-runs.ts'
import type { Writes } from '../write/writes.ts'
import { createArtifactReceiver } from './receive-artifact.ts'
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
