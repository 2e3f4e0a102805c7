/** Checkpoints in PostgreSQL, their weights in chunks. */
import { ApiError } from '../../../errors.ts'
import type { CheckpointStore } from '../../api/models/checkpoints.ts'
import { createCheckpointRows } from '../../base/models/model-store.ts'
import type { TrainingParts } from '../../base/training/training-writes.ts'
import type { Blobs } from '../blobs/blobs.ts'

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
