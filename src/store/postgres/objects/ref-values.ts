/**
 * Reads what refs point at where a condition over many rows needs it, each content once. Routes that give values to
 * clients read them by `routes/objects/ref-reader.ts`, which keeps every digit.
 */
import { canUseProject } from '../../../domain/access/permissions.ts'
import {
  HOPS_MAX,
  parseReadableRef,
  type ReadableRef,
  type RefEdge,
  stepInto,
} from '../../../domain/objects/ref-reading.ts'
import type { StoredTable } from '../../api/objects/tables.ts'
import { createContentCache } from '../../base/objects/content-cache.ts'
import { FIND_TABLE } from '../../base/objects/tables.sql.ts'
import type { Statements } from '../db/client.ts'
import { findContents } from './object-list.ts'
import { findVersion } from './object-versions.ts'
import { readPlaces } from './table-rows.ts'

type Place = { readonly table: StoredTable } | { readonly value: unknown }

/**
 * @param projects - patterns of the projects that may be read
 * @returns the value of a ref: undefined for text that is no ref of an object, op or table, where nothing lies,
 * for what was deleted and for other projects
 */
export function createRefValues(
  db: Pick<Statements, 'all' | 'first'>,
  projects: readonly string[],
): (ref: string) => Promise<unknown> {
  const contents = createContentCache()

  async function readContent(project_id: string, digest: string): Promise<unknown> {
    const key = `${project_id}:${digest}`
    if (contents.has(key)) return contents.get(key)
    return contents.add(key, (await findContents(db, project_id, [digest])).get(digest))
  }

  async function openTarget({ project_id, target }: ReadableRef): Promise<Place> {
    if (!canUseProject({ projects }, project_id)) return { value: undefined }
    if (target.kind === 'table') {
      const table = await db.first<StoredTable>(FIND_TABLE, { project_id, digest: target.digest })
      return table ? { table } : { value: undefined }
    }
    const found = await findVersion(db, project_id, target.object_id, target.version)
    if (found === null || found.version.deleted_at_us !== null) return { value: undefined }
    return { value: await readContent(project_id, found.version.digest) }
  }

  async function stepIntoTable(table: StoredTable, { kind, value }: RefEdge): Promise<unknown> {
    // A row is found by what it holds: whether the table has it costs a look at all of its keys.
    if (kind === 'id') return readContent(table.project_id, value)
    if (kind !== 'index' || Number(value) >= table.row_count) return undefined
    for await (const [row] of readPlaces(db, table, [Number(value)])) {
      return row && JSON.parse(row.val_json)
    }
    return undefined
  }

  async function follow(value: unknown, hops: number): Promise<Place> {
    const ref = typeof value === 'string' && hops > 0 ? parseReadableRef(value) : null
    return ref === null ? { value } : walk(ref, hops - 1)
  }

  async function walk(ref: ReadableRef, hops: number): Promise<Place> {
    let place = await openTarget(ref)
    for (const edge of ref.edges) {
      const from = 'value' in place ? await follow(place.value, hops) : place
      const value =
        'table' in from ? await stepIntoTable(from.table, edge) : stepInto(from.value, edge)
      place = { value }
    }
    return place
  }

  return async (text) => {
    const ref = parseReadableRef(text)
    const place = ref === null ? { value: undefined } : await walk(ref, HOPS_MAX)
    return 'value' in place ? place.value : undefined
  }
}
