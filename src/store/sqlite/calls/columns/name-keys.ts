/** Maps projects, ops, refs and paths of refs to numbers for writes of calls; cached for one transaction. */
import type { Connection } from '../../db/connection.ts'
import type { GroupCommit } from '../../write/group-commit.ts'
import * as SQL from './name-keys.sql.ts'

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
