/** Checkpoints in PostgreSQL, their weights in chunks. */
import { ApiError } from '../../../errors.ts'
import type { CheckpointStore } from '../../api/models/checkpoints.ts'
import { findStep, listCheckpoints } from '../../base/models/checkpoint-steps.ts'
import type { Blobs } from '../blobs/blobs.ts'
import type { Postgres } from '../db/client.ts'
import { runSteps } from '../db/run-steps.ts'
import { writeTraining } from '../training/training-writes.ts'

export function createCheckpointStore(db: Postgres, blobs: Blobs): CheckpointStore {
  return {
    insertCheckpoint: (checkpoint) =>
      writeTraining(db, (writes) => writes.insert_checkpoint(checkpoint)),
    async deleteSteps(model_id, steps, deleted_at_us) {
      const deletion = { model_id, steps, deleted_at_us }
      const { paths, ...deleted } = await writeTraining(db, (writes) =>
        writes.delete_steps(deletion),
      )
      await blobs.removeUnused(paths)
      return deleted
    },
    listCheckpoints: (listing) => runSteps(db, listCheckpoints(listing)),
    findCheckpoint: (model_id, step) => runSteps(db, findStep(model_id, step)),
    async openArtifact({ path, bytes }) {
      const artifact = await blobs.open(path, bytes)
      if (artifact === null) throw new ApiError('checkpoint_not_found')
      return artifact
    },
  }
}
