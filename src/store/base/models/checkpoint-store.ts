/** Checkpoints in SQLite and PostgreSQL alike, without their weights. */
import type { CheckpointStore } from '../../api/models/checkpoints.ts'
import type { TrainingParts } from '../training/training-writes.ts'
import { findStep, listCheckpoints } from './checkpoint-steps.ts'

export function createCheckpointRows({
  runs: { read, write },
  removeUnused,
}: Omit<TrainingParts, 'notifier'>): Omit<CheckpointStore, 'openArtifact'> {
  return {
    insertCheckpoint: (checkpoint) => write('insert_checkpoint', checkpoint),
    async deleteSteps(model_id, steps, deleted_at_us) {
      const deletion = { model_id, steps, deleted_at_us }
      const { paths, ...deleted } = await write('delete_steps', deletion)
      await removeUnused(paths)
      return deleted
    },
    listCheckpoints: (listing) => read(listCheckpoints(listing)),
    findCheckpoint: (model_id, step) => read(findStep(model_id, step)),
  }
}
