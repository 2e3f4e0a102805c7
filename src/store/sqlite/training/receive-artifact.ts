/** Receives the artifacts of attempts in files. */
import { randomUUID } from 'node:crypto'
import type { Lease, TrainingQueue } from '../../api/training/training-queue.ts'
import { requireLeased } from '../../base/training/job-steps.ts'
import type { TrainingParts } from '../../base/training/training-writes.ts'
import { type ReceivedBytes, receiveBytes } from '../files/receive-file.ts'
import type { CheckpointArtifacts } from '../models/checkpoint-artifacts.ts'

export function createArtifactReceiver(
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
