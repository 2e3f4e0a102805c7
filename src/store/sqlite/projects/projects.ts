/** Projects in SQLite: their list, the sizes of their contents and the retention of their calls. */
import { SERVER_ORIGIN } from '../../../domain/access/audit.ts'
import type {
  PinnedRetention,
  ProjectStore,
  RedactionStore,
  RetentionStore,
} from '../../api/projects/projects.ts'
import { stamp } from '../../base/access/audit-store.ts'
import { first } from '../../base/db/steps.ts'
import {
  cacheKnownProjects,
  findRetention,
  hasContents,
  listRedactions,
  listRetentions,
} from '../../base/projects/project-steps.ts'
import type { Connection } from '../db/connection.ts'
import { createStepReader } from '../db/run-steps.ts'
import type { ReadPool } from '../read/read-pool.ts'
import type { Writes } from '../write/writes.ts'
import { FIND_PROJECT } from './projects.sql.ts'

/** @param db - for reads on this thread */
function createProjectStore(db: Connection, reads: ReadPool): ProjectStore {
  const read = createStepReader(db)
  return {
    hasProject: cacheKnownProjects(
      async (project_id) =>
        (await read(first(FIND_PROJECT, { project_id }))) !== undefined ||
        (await read(hasContents(project_id))),
    ),
    sumContents: (caller) => reads.run('content_sizes', caller.project_id, caller),
    listProjects: (caller) => reads.run('projects', null, caller),
  }
}

/** @param db - for reads on this thread */
function createRetentionStore(db: Connection, writes: Writes): RetentionStore {
  const read = createStepReader(db)
  /** One process has the file, so that what waits for a hold is in this one. */
  const holds = new Set<{ readonly project_id: string; readonly ended: Promise<void> }>()

  return {
    findRetention: (project_id) => read(findRetention(project_id)),
    async setRetention(retention, by = SERVER_ORIGIN) {
      await writes.run('set_retention', { retention, by: stamp(by) })
      const { project_id } = retention
      const earlier = [...holds].filter((hold) => hold.project_id === project_id)
      await Promise.all(earlier.map(({ ended }) => ended))
    },
    async pinRetention(project_id): Promise<PinnedRetention> {
      const { promise: ended, resolve } = Promise.withResolvers<void>()
      const hold = { project_id, ended }
      holds.add(hold)
      const end = async () => {
        holds.delete(hold)
        resolve()
      }
      try {
        return { retention: await read(findRetention(project_id)), end }
      } catch (error) {
        await end()
        throw error
      }
    },
    listRetentions: (after) => read(listRetentions(after)),
  }
}

/** @param db - for reads on this thread */
function createRedactionStore(db: Connection, writes: Writes): RedactionStore {
  const read = createStepReader(db)
  return {
    listRedactions: () => read(listRedactions()),
    setRedaction: (redaction, by = SERVER_ORIGIN) =>
      writes.run('set_redaction', { redaction, by: stamp(by) }),
  }
}

/** @param db - for reads on this thread */
export function createProjectStores(db: Connection, writes: Writes, reads: ReadPool) {
  return {
    projects: createProjectStore(db, reads),
    retention: createRetentionStore(db, writes),
    redactions: createRedactionStore(db, writes),
  }
}
