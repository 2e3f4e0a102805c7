/** Reads of published objects and their limits, in SQLite and PostgreSQL alike. */
import { type ObjectVersion, parseVersionName } from '../../../domain/objects/object-view.ts'
import { ApiError } from '../../../errors.ts'
import type { ObjectVersionFilter } from '../../../schemas/objects/object.ts'
import type { ObjectListing } from '../../api/objects/objects.ts'
import { all, first, type Steps } from '../db/steps.ts'
import {
  FIND_JSON_VALUE,
  OBJECT_ORDERS,
  type ObjectCondition,
  type ObjectStatements,
  type VersionStatements,
} from './objects.sql.ts'

/** Limit: tags of one version; aliases of one object. */
const MARKS_MAX = 1000
/** Limit: distinct names in one result; names after them in sort order are left out. */
const NAMES_MAX = 10_000

/** @param count - after the write, which the error undoes. @throws ApiError validation_failed */
export function requireMarkLimit(count: number, param: 'tags' | 'aliases'): void {
  if (count <= MARKS_MAX) return
  const message = `An object has at most ${MARKS_MAX} ${param}.`
  throw new ApiError('validation_failed', { message, param })
}

/** @throws ApiError validation_failed */
function requireByteLimit(bytes: number, bytesMax: number): void {
  if (bytes <= bytesMax) return
  const message = `The contents have more than ${bytesMax} bytes: ask for fewer with limit, or for metadata_only.`
  throw new ApiError('validation_failed', { message, param: 'limit' })
}

export interface ObjectName {
  readonly project_id: string
  readonly object_id: string
}

type VersionRow = ObjectVersion & { readonly object_key: number }

/** Finds the row of a version by its name, deleted or not. */
export function* findNamed<Row>(
  statements: VersionStatements,
  { project_id, object_id }: ObjectName,
  version: string,
): Steps<Row | undefined> {
  const name = parseVersionName(version)
  const key = { project_id, object_id }
  if (name.kind === 'latest') {
    return (yield* first<Row>(statements.latest, key)) ?? (yield* first(statements.newest, key))
  }
  if (name.kind === 'number') {
    return yield* first(statements.byNumber, { ...key, version_index: name.version_index })
  }
  const { text } = name
  return (
    (yield* first<Row>(statements.byDigest, { ...key, digest: text })) ??
    (yield* first(statements.byAlias, { ...key, alias: text }))
  )
}

/** See the contract. */
export function* findVersion(
  { FIND_VERSIONS, FIND_UNMARKED }: ObjectStatements,
  name: ObjectName,
  version: string,
  withMarks: boolean,
): Steps<ObjectVersion | null> {
  const statements = withMarks ? FIND_VERSIONS : FIND_UNMARKED
  const row = yield* findNamed<VersionRow>(statements, name, version)
  return row === undefined ? null : toVersion(row)
}

function toVersion({ object_key: _key, ...version }: VersionRow): ObjectVersion {
  return version
}

/** Returns the text of a content. */
export function* findContent(project_id: string, digest: string): Steps<string | null> {
  const row = yield* first<{ val_json: string }>(FIND_JSON_VALUE, { project_id, digest })
  return row?.val_json ?? null
}

/** Returns the versions of a listing without their contents. @throws ApiError when these would be too large */
export function* listVersions(
  { listObjects }: ObjectStatements,
  listing: ObjectListing,
): Steps<ObjectVersion[]> {
  const { project_id, limit, offset, filter, sort_by } = listing
  const order = sort_by.map(({ field, direction }) => OBJECT_ORDERS[field][direction])
  const conditions = conditionsOf(filter)
  const sql = listObjects(
    order.length > 0 ? order : [OBJECT_ORDERS.created_at.asc],
    Object.keys(conditions) as ObjectCondition[],
  )
  const rows = yield* all<VersionRow>(sql, { project_id, limit, offset, ...conditions })
  if (listing.withContent) {
    const sum = rows.reduce((bytes, { size_bytes }) => bytes + size_bytes, 0)
    requireByteLimit(sum, listing.contentBytesMax)
  }
  return rows.map(toVersion)
}

/** Returns the values of the conditions that apply: null, false and an empty list do not filter. */
function conditionsOf({ is_op, ...filter }: ObjectVersionFilter) {
  const kind = is_op === null || is_op === undefined ? null : is_op ? 'op' : 'object'
  const values = Object.entries({ kind, ...filter })
  return Object.fromEntries(values.filter(([, value]) => value && (value === true || value.length)))
}

/** @param sql - LIST_TAGS or LIST_ALIASES */
export function* listNames(sql: string, project_id: string): Steps<string[]> {
  const rows = yield* all<{ name: string }>(sql, { project_id, limit: NAMES_MAX })
  return rows.map(({ name }) => name)
}
