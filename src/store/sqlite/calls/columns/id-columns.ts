/**
 * The stored form of ids and names of calls. Names are numbers; ids of a usual form are bytes, any other is the text
 * itself. The forms differ in length, so the text can be restored exactly. id-columns.sql.ts has the SQL of both
 * directions.
 */
import type { Connection } from '../../db/connection.ts'
import type { GroupCommit } from '../../write/group-commit.ts'
import * as SQL from './id-columns.sql.ts'

/** The value of an id's column: the text that a client sent, or its bytes. */
export type PackedId = string | Buffer

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
/** A span id of OpenTelemetry, and a trace id. */
const HEX_16 = /^[0-9a-f]{16}$/
const HEX_32 = /^[0-9a-f]{32}$/

/** Returns the column value: 16 bytes for a UUID, 8 for 16 hexadecimal digits, 17 for 32, or the text. */
export function packId(id: string): PackedId {
  if (id.length === 36) return UUID.test(id) ? Buffer.from(id.replaceAll('-', ''), 'hex') : id
  if (id.length === 32) return HEX_32.test(id) ? Buffer.from(`00${id}`, 'hex') : id
  if (id.length === 16) return HEX_16.test(id) ? Buffer.from(id, 'hex') : id
  return id
}

/** The same for an id that may be missing. */
export function packOptional(id: string | null): PackedId | null {
  return id === null ? null : packId(id)
}

export function isSamePackedId(left: PackedId | null, right: PackedId): boolean {
  if (left === null || typeof left !== typeof right) return false
  return typeof left === 'string' ? left === right : left.equals(right as Buffer)
}

type Key = number | bigint

export interface NameKeys {
  projectKey(project_id: string): Key
  opKey(op_name: string): Key
  refKey(ref: string): Key
  pathKey(path: string): Key
}

export function createNameKeys(db: Connection, commit: Pick<GroupCommit, 'join'>): NameKeys {
  const projects = createKeys(db, SQL.FIND_PROJECT, SQL.INSERT_PROJECT)
  const ops = createKeys(db, SQL.FIND_OP, SQL.INSERT_OP)
  const refs = createKeys(db, SQL.FIND_REF, SQL.INSERT_REF)
  const paths = createKeys(db, SQL.FIND_REF_PATH, SQL.INSERT_REF_PATH)

  function forget(): void {
    projects.forget()
    ops.forget()
    refs.forget()
    paths.forget()
  }

  // The undone write may have inserted a name.
  commit.join({ begin: forget, undoWrite: forget })
  return {
    projectKey: projects.keyOf,
    opKey: ops.keyOf,
    refKey: refs.keyOf,
    pathKey: paths.keyOf,
  }
}

function createKeys(db: Connection, findSql: string, insertSql: string) {
  const find = db.prepare(findSql).pluck()
  const insert = db.prepare(insertSql)
  const keys = new Map<string, Key>()

  function keyOf(name: string): Key {
    const known = keys.get(name)
    if (known !== undefined) return known
    const key = (find.get(name) as Key | undefined) ?? insert.run(name).lastInsertRowid
    keys.set(name, key)
    return key
  }

  return { keyOf, forget: () => keys.clear() }
}
