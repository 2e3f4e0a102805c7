/** Receives bodies of training jobs: small ones in memory, large ones in a file and a thread, which routes share. */
import type { Readable } from 'node:stream'
import { openBodyFolder } from './body-folder.ts'
import { limitLargeBodies, receiveTrainingBody, type TrainingBody } from './training-body.ts'
import { createTrainingBodyThread, optionsOfBodyThread } from './training-body-thread.ts'

interface IntakeOptions {
  /** Limit: bytes of a body. */
  readonly trainingBodyBytesMax: number
  /** Directory for large bodies while they are received, or ':memory:' for a temporary one. */
  readonly dataDir: string
}

export interface TrainingIntake {
  /** Reads a body to its end. @throws what receiveTrainingBody throws */
  receive(source: Readable | undefined): Promise<TrainingBody>
  close(): Promise<void>
}

export function openTrainingIntake({
  trainingBodyBytesMax: bytesMax,
  dataDir,
}: IntakeOptions): TrainingIntake {
  const thread = createTrainingBodyThread(optionsOfBodyThread(bytesMax))
  const folder = openBodyFolder(dataDir)
  const stageBody = limitLargeBodies(folder.stageBody)
  return {
    receive: (source) => receiveTrainingBody(source, { stageBody, thread, bytesMax }),
    async close() {
      await thread.close()
      folder.close()
    },
  }
}
