/** Checkpoints in SQLite, with weights in files. */

import { ApiError } from '../../../errors.ts'
import type { CheckpointStore } from '../../api/models/checkpoints.ts'
import { findStep, listCheckpoints } from '../../base/models/checkpoint-steps.ts'
import type { Connection } from '../db/connection.ts'
import { createStepReader } from '../db/run-steps.ts'
import type { Writes } from '../write/writes.ts'
import type { CheckpointArtifacts } from './checkpoint-artifacts.ts'

/** @param db - for reads on this thread */
export function createCheckpointStore(
  db: Connection,
  writes: Writes,
  artifacts: CheckpointArtifacts,
): CheckpointStore {
  const read = createStepReader(db)
  return {
    insertCheckpoint: (checkpoint) => writes.run('insert_checkpoint', checkpoint),
    async deleteSteps(model_id, steps, deleted_at_us) {
      const { paths, ...deleted } = await writes.run('delete_steps', {
        model_id,
        steps,
        deleted_at_us,
      })
      await artifacts.removeUnused(paths)
      return deleted
    },
    listCheckpoints: (listing) => read(listCheckpoints(listing)),
    findCheckpoint: (model_id, step) => read(findStep(model_id, step)),
    async openArtifact({ path }) {
      try {
        return await artifacts.folder.openReader(path)
      } catch (cause) {
        // A file that is there and cannot be opened is a fault of the disk or of the process.
        if (await artifacts.folder.has(path)) {
          throw new ApiError('store_unavailable', { cause, retryAfterS: 5 })
        }
        throw new ApiError('checkpoint_not_found', { cause })
      }
    },
  }
}
