/** Looks up versions of published objects by their names. */
import { type ObjectVersion, parseVersionName } from '../../../domain/objects/object-view.ts'
import type { Statements } from '../db/client.ts'
import * as SQL from './objects.sql.ts'

export interface KeyedVersion {
  readonly object_key: number
  readonly version: ObjectVersion
}

/** @returns the version of a name, deleted or not; null when there is none */
export async function findVersion(
  db: Pick<Statements, 'first'>,
  project_id: string,
  object_id: string,
  text: string,
): Promise<KeyedVersion | null> {
  const name = parseVersionName(text)
  const key = { project_id, object_id }
  const row = await (name.kind === 'latest'
    ? db.first<VersionRow>(SQL.FIND_LATEST_VERSION, key)
    : name.kind === 'number'
      ? db.first<VersionRow>(SQL.FIND_NUMBERED_VERSION, {
          ...key,
          version_index: name.version_index,
        })
      : db.first<VersionRow>(SQL.FIND_NAMED_VERSION, { ...key, name: name.text }))
  return row === undefined ? null : toKeyed(row)
}

export type VersionRow = ObjectVersion & { readonly object_key: number }

export function toKeyed({ object_key, ...version }: VersionRow): KeyedVersion {
  return { object_key, version }
}
