/** Receives the artifacts of attempts in chunks. */
import { randomUUID } from 'node:crypto'
import type { TrainingQueue } from '../../api/training/training-queue.ts'
import type { TrainingParts } from '../../base/training/training-writes.ts'
import type { Blobs } from '../blobs/blobs.ts'

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
