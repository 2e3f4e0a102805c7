/** What the writes of annotation queues need in SQLite, where transactions do not meet. */
import { FIND_ITEM, FIND_QUEUE } from '../../base/annotation/annotation-queues.sql.ts'
import { createAnnotationWrites } from '../../base/annotation/annotation-writes.ts'
import { run } from '../../base/db/steps.ts'
import type { Connection } from '../db/connection.ts'
import { toWriteJobs } from '../db/run-steps.ts'
import { INSERT_ITEM } from './annotation-queues.sql.ts'

export function createAnnotationJobs(db: Connection, newId: () => string) {
  const writes = createAnnotationWrites(newId, {
    LOCK_QUEUE: FIND_QUEUE,
    LOCK_ITEM: FIND_ITEM,
    *insertItems(items) {
      let count = 0
      for (const item of items) count += yield* run(INSERT_ITEM, item)
      return count
    },
  })
  return toWriteJobs(db, writes)
}
