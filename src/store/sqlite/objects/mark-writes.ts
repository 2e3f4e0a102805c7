/** The writes of tags and aliases. */
import { requireObject } from '../../../domain/objects/object-view.ts'
import type { AliasRemoval, ObjectMarks } from '../../api/objects/objects.ts'
import { requireFewMarks } from '../../base/objects/object-limits.ts'
import type { Connection } from '../db/connection.ts'
import * as SQL from './marks.sql.ts'
import { createVersionFinder } from './object-versions.ts'
import { FIND_OBJECT_KEY } from './objects.sql.ts'

export function createMarkWrites(db: Connection) {
  const insertTag = db.prepare(SQL.INSERT_TAG)
  const deleteTag = db.prepare(SQL.DELETE_TAG)
  const countTags = db.prepare(SQL.COUNT_TAGS).pluck()
  const setAlias = db.prepare(SQL.SET_ALIAS)
  const deleteAlias = db.prepare(SQL.DELETE_ALIAS)
  const countAliases = db.prepare(SQL.COUNT_ALIASES).pluck()
  const find = createVersionFinder(db)
  const findKey = db.prepare(FIND_OBJECT_KEY).pluck()

  function requireKey({ project_id, object_id, version }: ObjectMarks): number {
    const { digest } = requireObject(find(project_id, object_id, version))
    return findKey.get({ project_id, object_id, digest }) as number
  }

  return {
    add_tags(tagging: ObjectMarks): void {
      const object_key = requireKey(tagging)
      for (const tag of tagging.names) insertTag.run({ object_key, tag })
      requireFewMarks(countTags.get({ object_key }) as number, 'tags')
    },
    remove_tags(tagging: ObjectMarks): void {
      const object_key = requireKey(tagging)
      for (const tag of tagging.names) deleteTag.run({ object_key, tag })
    },
    set_aliases(naming: ObjectMarks): void {
      const object_key = requireKey(naming)
      const { project_id, object_id } = naming
      for (const alias of naming.names) setAlias.run({ project_id, object_id, alias, object_key })
      requireFewMarks(countAliases.get({ project_id, object_id }) as number, 'aliases')
    },
    remove_aliases({ project_id, object_id, names }: AliasRemoval): void {
      for (const alias of names) deleteAlias.run({ project_id, object_id, alias })
    },
  }
}
