/** How long projects keep their calls, in SQLite. */
import type { ProjectRetention } from '../../../domain/projects/retention.ts'
import { RETENTIONS_LISTED_MAX, type RetentionStore } from '../../api/projects/retention.ts'
import * as SQL from '../../base/projects/retention.sql.ts'
import type { Connection } from '../db/connection.ts'
import { toStoreError } from '../db/store-error.ts'
import type { Writes } from '../write/writes.ts'

/** @param db - for reads on this thread */
export function createRetentionStore(db: Connection, writes: Writes): RetentionStore {
  const find = db.prepare(SQL.FIND_RETENTION)
  const list = db.prepare(SQL.LIST_RETENTIONS)
  return {
    async findRetention(project_id) {
      try {
        return (find.get({ project_id }) as ProjectRetention | undefined) ?? null
      } catch (error) {
        throw toStoreError(error)
      }
    },
    setRetention: (retention) => writes.run('set_retention', retention),
    async listRetentions(after) {
      try {
        return list.all({ after, limit: RETENTIONS_LISTED_MAX }) as ProjectRetention[]
      } catch (error) {
        throw toStoreError(error)
      }
    },
  }
}
