/** Settings of retention and redaction of projects, and sizes of their contents, in PostgreSQL. */
import { SERVER_ORIGIN } from '../../../domain/access/audit.ts'
import type { ContentSizes, RedactionStore, RetentionStore } from '../../api/projects/projects.ts'
import { stamp } from '../../base/access/audit-store.ts'
import { SUM_TABLE_BYTES } from '../../base/objects/tables.sql.ts'
import {
  findRetention,
  listRedactions,
  listRetentions,
  REDACTION_WRITES,
  RETENTION_WRITES,
} from '../../base/projects/project-steps.ts'
import { createOwnConnection, type Postgres, statementsOf } from '../db/client.ts'
import { createTransactionRuns, runSteps } from '../db/run-steps.ts'
import { toStoreError } from '../db/store-error.ts'
import { AWAIT_PINS, PIN_RETENTION, SUM_OBJECT_BYTES } from './retention.sql.ts'

/** @param url - for the connections of holds: a step may last longer than the pool lets a connection idle */
export function createRetentionStore(db: Postgres, url: string): RetentionStore {
  const { write } = createTransactionRuns(db, RETENTION_WRITES)
  return {
    findRetention: (project_id) => runSteps(db, findRetention(project_id)),
    async setRetention(retention, by = SERVER_ORIGIN) {
      const { project_id } = retention
      await write('set_retention', { retention, by: stamp(by) })
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

export function createRedactionStore(db: Postgres): RedactionStore {
  const { write } = createTransactionRuns(db, REDACTION_WRITES)
  return {
    listRedactions: () => runSteps(db, listRedactions()),
    setRedaction: (redaction, by = SERVER_ORIGIN) =>
      write('set_redaction', { redaction, by: stamp(by) }),
  }
}

export function sumContents(db: Postgres, project_id: string): Promise<ContentSizes> {
  return db.snapshot(async (tx) => {
    const objects = await tx.first<{ bytes: number }>(SUM_OBJECT_BYTES, { project_id })
    const tables = await tx.first<{ bytes: number }>(SUM_TABLE_BYTES, { project_id })
    return { objects: objects?.bytes ?? 0, tables: tables?.bytes ?? 0 }
  })
}
