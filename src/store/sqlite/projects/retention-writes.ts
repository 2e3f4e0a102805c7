/** The write that sets how long a project keeps its calls. */
import type { ProjectRetention } from '../../../domain/projects/retention.ts'
import { SET_RETENTION } from '../../base/projects/retention.sql.ts'
import type { Connection } from '../db/connection.ts'

export function createRetentionWrites(db: Connection) {
  const set = db.prepare(SET_RETENTION)
  return {
    set_retention(retention: ProjectRetention): void {
      set.run(retention)
    },
  }
}
