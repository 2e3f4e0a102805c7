/** Projects that have been written to, and the retention of their calls. Known projects are cached: they stay so. */
import type { ProjectRetention } from '../../../domain/projects/retention.ts'
import { refuseField } from '../../../errors.ts'
import {
  type ProjectRedaction,
  REDACTIONS_MAX,
  RETENTIONS_LISTED_MAX,
} from '../../api/projects/projects.ts'
import { type AuditStamp, record } from '../access/audit-store.ts'
import { all, first, run, type Steps } from '../db/steps.ts'
import * as SQL from './projects.sql.ts'

/** Limit: cached names; beyond them the cache begins anew. */
const CACHED_MAX = 10_000

/** Whether a project has anything besides calls. */
export function* hasContents(project_id: string): Steps<boolean> {
  const [entity, project] = project_id.split('/')
  const found = yield* first<{ found: number }>(SQL.FIND_CONTENTS, { project_id, entity, project })
  return found !== undefined
}

/** @param find - asks the store */
export function cacheKnownProjects(
  find: (project_id: string) => Promise<boolean>,
): (project_id: string) => Promise<boolean> {
  const known = new Set<string>()
  return async (project_id) => {
    if (known.has(project_id)) return true
    if (!(await find(project_id))) return false
    if (known.size >= CACHED_MAX) known.clear()
    known.add(project_id)
    return true
  }
}

export const RETENTION_WRITES = {
  *set_retention({ retention, by }: RetentionChange): Steps<void> {
    const { project_id, retention_days } = retention
    const found = yield* findRetention(project_id)
    yield* run(SQL.SET_RETENTION, retention)
    yield* record(by, {
      action: 'retention.update',
      subject_id: project_id,
      projects: [project_id],
      before: found && { retention_days: found.retention_days },
      after: { retention_days },
    })
  },
}

export const REDACTION_WRITES = {
  *set_redaction({ redaction, by }: RedactionChange): Steps<void> {
    const { project_id, rules_json } = redaction
    const found = yield* first<{ rules_json: string }>(SQL.FIND_REDACTION, { project_id })
    if (rules_json === null) yield* run(SQL.REMOVE_REDACTION, { project_id })
    else {
      const others = yield* first<{ count: number }>(SQL.COUNT_REDACTIONS, { project_id })
      if ((others?.count ?? 0) >= REDACTIONS_MAX) {
        refuseField('project_id', `is one more than ${REDACTIONS_MAX} projects with redaction`)
      }
      yield* run(SQL.SET_REDACTION, { project_id, rules_json })
    }
    yield* record(by, {
      action: 'redaction.update',
      subject_id: project_id,
      projects: [project_id],
      before: found === undefined ? null : JSON.parse(found.rules_json),
      after: rules_json === null ? null : JSON.parse(rules_json),
    })
  },
}

interface RedactionChange {
  readonly redaction: ProjectRedaction
  /** Who makes it. */
  readonly by: AuditStamp
}

/** See the contract. */
export function listRedactions(): Steps<{ project_id: string; rules_json: string }[]> {
  return all(SQL.LIST_REDACTIONS, { limit: REDACTIONS_MAX })
}

interface RetentionChange {
  readonly retention: ProjectRetention
  /** Who makes it. */
  readonly by: AuditStamp
}

export function* findRetention(project_id: string): Steps<ProjectRetention | null> {
  return (yield* first<ProjectRetention>(SQL.FIND_RETENTION, { project_id })) ?? null
}

/** See the contract. */
export function listRetentions(after: string): Steps<ProjectRetention[]> {
  return all(SQL.LIST_RETENTIONS, { after, limit: RETENTIONS_LISTED_MAX })
}
