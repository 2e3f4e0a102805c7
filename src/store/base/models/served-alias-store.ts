/** Names by which projects serve models, in SQLite and PostgreSQL alike. */
import { SERVER_ORIGIN } from '../../../domain/access/audit.ts'
import {
  addEarlier,
  earlierOf,
  renderAlias,
  type ServedAlias,
} from '../../../domain/models/served-alias.ts'
import { refuseField } from '../../../errors.ts'
import {
  ALIASES_PER_PROJECT_MAX,
  type AliasName,
  type AliasSetting,
  type ServedAliasStore,
} from '../../api/models/served-aliases.ts'
import { type AuditStamp, record, stamp } from '../access/audit-store.ts'
import type { Dialect } from '../db/dialect.ts'
import { all, count, first, run, type StepRuns, type Steps } from '../db/steps.ts'
import * as SQL from './served-aliases.sql.ts'

interface Audited {
  readonly by: AuditStamp
}

type AliasWrites = ReturnType<typeof createServedAliasWrites>

export function createServedAliasWrites({ forUpdate }: Pick<Dialect, 'forUpdate'>) {
  const lockAlias = `${SQL.FIND_ALIAS} ${forUpdate}`

  function* lock({ project_id, name }: AliasName): Steps<ServedAlias | null> {
    return (yield* first<ServedAlias>(lockAlias, { project_id, name })) ?? null
  }

  function* replace(
    before: ServedAlias | null,
    after: ServedAlias,
    by: AuditStamp,
  ): Steps<ServedAlias> {
    yield* run(SQL.SET_ALIAS, { ...after })
    yield* record(by, {
      action: 'alias.update',
      subject_id: after.name,
      projects: [after.project_id],
      before: before && renderAlias(before),
      after: renderAlias(after),
    })
    return after
  }

  return {
    *set_served_alias({ by, ...setting }: AliasSetting & Audited): Steps<ServedAlias> {
      const { project_id, target } = setting
      const found = yield* lock(setting)
      if (found === null) {
        const others = yield* count(SQL.COUNT_ALIASES, { project_id })
        if (others >= ALIASES_PER_PROJECT_MAX) {
          refuseField('name', `is one more than ${ALIASES_PER_PROJECT_MAX} names of the project`)
        }
      }
      const earlier_json = JSON.stringify(addEarlier(found, target))
      return yield* replace(found, { ...setting, earlier_json }, by)
    },
    *roll_back_served_alias({
      by,
      updated_at_us,
      ...named
    }: AliasName & { readonly updated_at_us: number } & Audited): Steps<ServedAlias | null> {
      const found = yield* lock(named)
      if (found === null) return null
      const [target, ...earlier] = earlierOf(found)
      if (target === undefined) refuseField('name', 'has no earlier target to go back to')
      const earlier_json = JSON.stringify(earlier)
      const none = { candidate: null, candidate_percent: null }
      return yield* replace(found, { ...found, ...none, target, earlier_json, updated_at_us }, by)
    },
    *delete_served_alias({ by, ...named }: AliasName & Audited): Steps<boolean> {
      const found = yield* lock(named)
      if (found === null) return false
      yield* run(SQL.DELETE_ALIAS, { ...named })
      yield* record(by, {
        action: 'alias.delete',
        subject_id: named.name,
        projects: [named.project_id],
        before: renderAlias(found),
        after: null,
      })
      return true
    },
  }
}

export function createServedAliasStore({ read, write }: StepRuns<AliasWrites>): ServedAliasStore {
  return {
    async findAlias({ project_id, name }) {
      return (await read(first<ServedAlias>(SQL.FIND_ALIAS, { project_id, name }))) ?? null
    },
    listAliases: (project_id) =>
      read(all<ServedAlias>(SQL.LIST_ALIASES, { project_id, limit: ALIASES_PER_PROJECT_MAX })),
    setAlias: (setting, by = SERVER_ORIGIN) =>
      write('set_served_alias', { ...setting, by: stamp(by) }),
    rollBackAlias: (named, by = SERVER_ORIGIN) =>
      write('roll_back_served_alias', { ...named, by: stamp(by) }),
    deleteAlias: (named, by = SERVER_ORIGIN) =>
      write('delete_served_alias', { ...named, by: stamp(by) }),
  }
}
