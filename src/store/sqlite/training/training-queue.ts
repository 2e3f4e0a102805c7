/** The queue of training jobs in SQLite: every move is one transaction over the rows that it read. */
import type { TrainingQueue } from '../../api/training-queue.ts'
import { createQueueClaims } from './queue-claims.ts'
import { createQueueCompletion } from './queue-completion.ts'
import { createQueueLeases } from './queue-leases.ts'
import { createQueueRows, type QueueParts } from './queue-rows.ts'

export function createTrainingQueue(parts: QueueParts): TrainingQueue {
  const rows = createQueueRows(parts)
  return {
    ...createQueueClaims(parts, rows),
    ...createQueueLeases(parts, rows),
    ...createQueueCompletion(parts, rows),
    onChange: parts.moves.listen,
  }
}
