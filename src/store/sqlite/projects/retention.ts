/** How long projects keep their calls, in SQLite. */
import type { ProjectRetention } from '../../../domain/projects/retention.ts'
import {
  RETENTIONS_LISTED_MAX,
  type RetentionHold,
  type RetentionStore,
} from '../../api/projects/retention.ts'
import * as SQL from '../../base/projects/retention.sql.ts'
import type { Connection } from '../db/connection.ts'
import { orStoreError } from '../db/store-error.ts'
import type { Writes } from '../write/writes.ts'

/** @param db - for reads on this thread */
export function createRetentionStore(db: Connection, writes: Writes): RetentionStore {
  const find = db.prepare(SQL.FIND_RETENTION)
  const list = db.prepare(SQL.LIST_RETENTIONS)
  /** One process has the file, so that what waits for a hold is in this one. */
  const holds = new Set<{ readonly project_id: string; readonly ended: Promise<void> }>()

  async function findRetention(project_id: string): Promise<ProjectRetention | null> {
    return orStoreError(() => (find.get({ project_id }) as ProjectRetention | undefined) ?? null)
  }

  return {
    findRetention,
    async setRetention(retention) {
      await writes.run('set_retention', retention)
      const { project_id } = retention
      const earlier = [...holds].filter((hold) => hold.project_id === project_id)
      await Promise.all(earlier.map(({ ended }) => ended))
    },
    async holdRetention(project_id): Promise<RetentionHold> {
      const { promise: ended, resolve } = Promise.withResolvers<void>()
      const hold = { project_id, ended }
      holds.add(hold)
      const end = async () => {
        holds.delete(hold)
        resolve()
      }
      try {
        return { retention: await findRetention(project_id), end }
      } catch (error) {
        await end()
        throw error
      }
    },
    async listRetentions(after) {
      const part = { after, limit: RETENTIONS_LISTED_MAX }
      return orStoreError(() => list.all(part) as ProjectRetention[])
    },
  }
}
