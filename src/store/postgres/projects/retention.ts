/** Retention settings of projects in PostgreSQL. */
import type { ProjectRetention } from '../../../domain/projects/retention.ts'
import { RETENTIONS_LISTED_MAX, type RetentionStore } from '../../api/projects/retention.ts'
import * as SQL from '../../base/projects/retention.sql.ts'
import { createOwnConnection, type Postgres, statementsOf } from '../db/client.ts'
import { toStoreError } from '../db/store-error.ts'
import { AWAIT_HOLDS, HOLD_RETENTION } from './retention.sql.ts'

/** @param url - for the connections of holds: a step may last longer than the pool lets a connection idle */
export function createRetentionStore(db: Postgres, url: string): RetentionStore {
  return {
    async findRetention(project_id) {
      return (await db.first<ProjectRetention>(SQL.FIND_RETENTION, { project_id })) ?? null
    },
    async setRetention({ project_id, retention_days }) {
      await db.run(SQL.SET_RETENTION, { project_id, retention_days })
      await db.run(AWAIT_HOLDS, { project_id })
    },
    async holdRetention(project_id) {
      const own = createOwnConnection(url)
      // A connection that is lost has let go of its lock already.
      const end = () => own.end().catch(() => undefined)
      try {
        await own.connect()
        const { first } = statementsOf(own)
        const lock = await first<{ held: boolean }>(HOLD_RETENTION, { project_id })
        if (lock?.held) {
          const found = await first<ProjectRetention>(SQL.FIND_RETENTION, { project_id })
          return { retention: found ?? null, end }
        }
        await end()
        return null
      } catch (error) {
        await end()
        throw toStoreError(error)
      }
    },
    listRetentions: (after) =>
      db.all<ProjectRetention>(SQL.LIST_RETENTIONS, { after, limit: RETENTIONS_LISTED_MAX }),
  }
}
