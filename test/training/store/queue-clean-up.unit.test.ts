import { expect, it, vi } from 'vitest'
import type { TrainingJob } from '../../../src/domain/training/training-job.ts'
import { createTrainingQueue } from '../../../src/store/base/training/queue-store.ts'
import type { TrainingWrites } from '../../../src/store/base/training/training-writes.ts'
import type { Connection } from '../../../src/store/sqlite/db/connection.ts'
import { createMemoryFolder } from '../../../src/store/sqlite/files/memory-folder.ts'
import { createCheckpointArtifacts } from '../../../src/store/sqlite/models/checkpoint-artifacts.ts'
import { QUEUE } from '../../../src/store/sqlite/training/training-queue.sql.ts'
import { createStepRuns } from '../../../src/store/sqlite/write/step-runs.ts'

it('a committed claim remains when the database cannot be read afterwards', async () => {
  const statement = {
    pluck: () => statement,
    get() {
      throw new Error('disk I/O error')
    },
  }
  const db = { open: true, prepare: () => statement } as unknown as Connection
  const folder = createMemoryFolder('artifacts')
  const remove = vi.spyOn(folder, 'remove')
  const ended = { staged_path: 'artifacts/a', parent_checkpoint_id: 'c' } as TrainingJob
  const claimed = { job: { id: 'next' } }
  const writes = { run: async () => ({ ended: [ended], claimed }) } as never
  const parts = {
    runs: createStepRuns<TrainingWrites>(db, writes),
    notifier: { notify: () => {}, listen: () => () => {} },
    removeUnused: createCheckpointArtifacts(db, folder).removeUnused,
  }
  const queue = createTrainingQueue(parts, QUEUE, () => Promise.reject())
  expect(await queue.claimJob({} as never)).toEqual(claimed)
  expect(remove).not.toHaveBeenCalled()
})
