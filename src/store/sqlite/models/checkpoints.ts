/** Checkpoints in SQLite, with weights in files. */
import { ApiError } from '../../../errors.ts'
import type { CheckpointStore } from '../../api/models/checkpoints.ts'
import { createCheckpointRows } from '../../base/models/model-store.ts'
import type { TrainingParts } from '../../base/training/training-writes.ts'
import type { CheckpointArtifacts } from './checkpoint-artifacts.ts'

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
