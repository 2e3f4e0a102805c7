/** The writes of objects, in SQLite and PostgreSQL alike. Each is one transaction, in which the object is locked. */
import type { NewObject } from '../../../domain/objects/object-content.ts'
import { requireObject } from '../../../domain/objects/object-view.ts'
import { ApiError } from '../../../errors.ts'
import type { AliasRemoval, DeletedVersion, ObjectMarks } from '../../api/objects/objects.ts'
import { all, count, first, run, type Steps } from '../db/steps.ts'
import * as MARKS from './marks.sql.ts'
import { findNamed, type ObjectName, requireMarkLimit } from './object-reads.ts'
import {
  FIND_VERSION_KEYS,
  INSERT_JSON_VALUE,
  INSERT_OBJECT,
  LIST_LIVE_VERSION_KEYS,
  type ObjectStatements,
} from './objects.sql.ts'

interface ObjectDeletion extends ObjectName {
  /** Names of versions; null: all that are not deleted. */
  readonly versions: readonly string[] | null
  readonly deleted_at_us: number
}

interface VersionKeyRow extends DeletedVersion {
  readonly object_key: number
  readonly deleted_at_us: number | null
}

export function createObjectWrites(statements: ObjectStatements & MARKS.MarkStatements) {
  return {
    *create_object({ val_json, expected_latest = null, ...object }: NewObject): Steps<void> {
      const { project_id, digest } = object
      if (expected_latest !== null) yield* requireLatest(object, expected_latest)
      yield* run(INSERT_JSON_VALUE, { project_id, digest, val_json })
      yield* run(INSERT_OBJECT, object)
    },
    *delete_objects({ deleted_at_us, ...chosen }: ObjectDeletion): Steps<DeletedVersion[]> {
      const rows = yield* chooseVersions(chosen)
      const object_keys = rows.map(({ object_key }) => object_key)
      yield* run(statements.DELETE_OBJECTS, { object_keys, deleted_at_us })
      return rows.map(({ object_key: _key, deleted_at_us: _none, ...version }) => version)
    },
    *add_tags(marks: ObjectMarks): Steps<void> {
      const object_key = yield* requireKey(marks)
      yield* run(statements.INSERT_TAGS, { object_key, names: marks.names })
      requireMarkLimit(yield* count(MARKS.COUNT_TAGS, { object_key }), 'tags')
    },
    *remove_tags(marks: ObjectMarks): Steps<void> {
      const object_key = yield* requireKey(marks)
      yield* run(statements.DELETE_TAGS, { object_key, names: marks.names })
    },
    *set_aliases(marks: ObjectMarks): Steps<void> {
      const { project_id, object_id, names } = marks
      const object_key = yield* requireKey(marks)
      yield* run(statements.SET_ALIASES, { project_id, object_id, names, object_key })
      requireMarkLimit(yield* count(MARKS.COUNT_ALIASES, { project_id, object_id }), 'aliases')
    },
    *remove_aliases({ project_id, object_id, names }: AliasRemoval): Steps<void> {
      yield* run(statements.DELETE_ALIASES, { project_id, object_id, names })
    },
  }
}

/** @param expected - number of the version; -1: none */
function* requireLatest({ project_id, object_id }: ObjectName, expected: number): Steps<void> {
  const latest = yield* first<VersionKeyRow>(FIND_VERSION_KEYS.latest, { project_id, object_id })
  if ((latest?.version_index ?? -1) === expected) return
  throw new ApiError('object_conflict', { param: 'obj.expected_latest' })
}

function* requireKey(marks: ObjectMarks): Steps<number> {
  const row = yield* findNamed<VersionKeyRow>(FIND_VERSION_KEYS, marks, marks.version)
  return requireObject(row ?? null).object_key
}

/** Finds all names before the first deletion, so that `latest` means the latest version before it. */
function* chooseVersions({
  versions,
  ...name
}: Omit<ObjectDeletion, 'deleted_at_us'>): Steps<VersionKeyRow[]> {
  if (versions === null) {
    const live = yield* all<VersionKeyRow>(LIST_LIVE_VERSION_KEYS, name)
    if (live.length === 0) throw new ApiError('object_not_found', { param: 'object_id' })
    return live
  }
  const chosen = new Map<number, VersionKeyRow>()
  for (const [at, version] of versions.entries()) {
    const row = yield* findNamed<VersionKeyRow>(FIND_VERSION_KEYS, name, version)
    if (row === undefined || row.deleted_at_us !== null) {
      throw new ApiError('object_not_found', { param: `digests[${at}]` })
    }
    chosen.set(row.object_key, row)
  }
  return [...chosen.values()]
}
