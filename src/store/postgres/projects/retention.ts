/** Retention settings of projects in PostgreSQL. */
import type { RetentionStore } from '../../api/projects/retention.ts'
import {
  findRetention,
  listRetentions,
  RETENTION_WRITES,
} from '../../base/projects/project-steps.ts'
import { createOwnConnection, type Postgres, statementsOf } from '../db/client.ts'
import { runSteps } from '../db/run-steps.ts'
import { toStoreError } from '../db/store-error.ts'
import { AWAIT_PINS, PIN_RETENTION } from './retention.sql.ts'

/** @param url - for the connections of holds: a step may last longer than the pool lets a connection idle */
export function createRetentionStore(db: Postgres, url: string): RetentionStore {
  return {
    findRetention: (project_id) => runSteps(db, findRetention(project_id)),
    async setRetention(retention) {
      const { project_id } = retention
      await runSteps(db, RETENTION_WRITES.set_retention(retention))
      await db.run(AWAIT_PINS, { project_id })
    },
    async pinRetention(project_id) {
      const own = createOwnConnection(url)
      // A connection that is lost has let go of its lock already.
      const end = () => own.end().catch(() => undefined)
      try {
        await own.connect()
        const statements = statementsOf(own)
        const lock = await statements.first<{ held: boolean }>(PIN_RETENTION, { project_id })
        if (lock?.held) {
          return { retention: await runSteps(statements, findRetention(project_id)), end }
        }
        await end()
        return null
      } catch (error) {
        await end()
        throw toStoreError(error)
      }
    },
    listRetentions: (after) => runSteps(db, listRetentions(after)),
  }
}
