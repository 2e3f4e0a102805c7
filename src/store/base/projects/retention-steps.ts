/** Reads of retention settings and their write, in SQLite and PostgreSQL alike. */
import type { ProjectRetention } from '../../../domain/projects/retention.ts'
import { RETENTIONS_LISTED_MAX } from '../../api/projects/retention.ts'
import { all, first, run, type Steps } from '../db/steps.ts'
import * as SQL from './retention.sql.ts'

export const RETENTION_WRITES = {
  *set_retention(retention: ProjectRetention): Steps<void> {
    yield* run(SQL.SET_RETENTION, retention)
  },
}

export function* findRetention(project_id: string): Steps<ProjectRetention | null> {
  return (yield* first<ProjectRetention>(SQL.FIND_RETENTION, { project_id })) ?? null
}

/** See the contract. */
export function listRetentions(after: string): Steps<ProjectRetention[]> {
  return all(SQL.LIST_RETENTIONS, { after, limit: RETENTIONS_LISTED_MAX })
}
