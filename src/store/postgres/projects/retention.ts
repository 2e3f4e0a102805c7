/** Retention settings of projects in PostgreSQL. */
import type { ProjectRetention } from '../../../domain/projects/retention.ts'
import { RETENTIONS_LISTED_MAX, type RetentionStore } from '../../api/projects/retention.ts'
import * as SQL from '../../base/projects/retention.sql.ts'
import type { Postgres } from '../db/client.ts'

export function createRetentionStore(db: Postgres): RetentionStore {
  return {
    async findRetention(project_id) {
      return (await db.first<ProjectRetention>(SQL.FIND_RETENTION, { project_id })) ?? null
    },
    async setRetention({ project_id, retention_days }) {
      await db.run(SQL.SET_RETENTION, { project_id, retention_days })
    },
    listRetentions: (after) =>
      db.all<ProjectRetention>(SQL.LIST_RETENTIONS, { after, limit: RETENTIONS_LISTED_MAX }),
  }
}
