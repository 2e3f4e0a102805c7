/**
 * Reads the targets of refs for conditions over many rows: synchronously, and each content once. Routes that return
 * values to clients use `routes/objects/ref-reader.ts`, which keeps every digit.
 */
import { canUseProject } from '../../../domain/access/permissions.ts'
import {
  HOPS_MAX,
  parseReadableRef,
  type ReadableRef,
  type RefEdge,
  stepInto,
} from '../../../domain/objects/ref-reading.ts'
import type { NewRow, StoredTable } from '../../api/objects/tables.ts'
import { createContentCache } from '../../base/objects/content-cache.ts'
import { FIND_TABLE } from '../../base/objects/tables.sql.ts'
import type { Connection } from '../db/connection.ts'
import { createPlaceFinder } from './object-versions.ts'
import { FIND_JSON_VALUE } from './objects.sql.ts'
import { openTableBlocks } from './table-blocks.ts'
import { FIND_ROW } from './tables.sql.ts'

/** Limit: refs with cached values; the cache is cleared when it is full. */
const KEPT_REFS_MAX = 100_000

type Place = { readonly table: StoredTable } | { readonly value: unknown }

/**
 * @param projects - patterns of the projects that may be read
 * @returns a function that returns the value of a ref: undefined for text that is no ref of an object, op or table, for
 * missing or deleted targets, and for other projects
 */
export function createRefValues(
  db: Connection,
  projects: readonly string[],
): (ref: string) => unknown {
  const find = createPlaceFinder(db)
  const findContent = db.prepare(FIND_JSON_VALUE).pluck()
  const findTable = db.prepare(FIND_TABLE)
  const findRow = db.prepare(FIND_ROW)
  const values = new Map<string, unknown>()
  const contents = createContentCache(() => values.clear())

  function readContent(project_id: string, digest: string): unknown {
    const key = `${project_id}:${digest}`
    if (contents.has(key)) return contents.get(key)
    return contents.add(key, findContent.get({ project_id, digest }) as string | undefined)
  }

  function openTarget({ project_id, target }: ReadableRef): Place {
    if (!canUseProject({ projects }, project_id)) return { value: undefined }
    if (target.kind === 'table') {
      const table = findTable.get({ project_id, digest: target.digest }) as StoredTable | undefined
      return table ? { table } : { value: undefined }
    }
    const found = find(project_id, target.object_id, target.version)
    if (found === null || found.deleted_at_us !== null) return { value: undefined }
    return { value: readContent(project_id, found.digest) }
  }

  function stepIntoTable(table: StoredTable, { kind, value }: RefEdge): unknown {
    // Finds a row by its digest. Checking that it belongs to the table would read all keys of the table.
    if (kind === 'id') return readContent(table.project_id, value)
    if (kind !== 'index' || Number(value) >= table.row_count) return undefined
    const row = findRow.get(openTableBlocks(db, table).keyAt(Number(value))) as NewRow
    return JSON.parse(row.val_json)
  }

  function follow(value: unknown, hops: number): Place {
    const ref = typeof value === 'string' && hops > 0 ? parseReadableRef(value) : null
    return ref === null ? { value } : walk(ref, hops - 1)
  }

  function walk(ref: ReadableRef, hops: number): Place {
    let place = openTarget(ref)
    for (const edge of ref.edges) {
      const from = 'value' in place ? follow(place.value, hops) : place
      const value = 'table' in from ? stepIntoTable(from.table, edge) : stepInto(from.value, edge)
      place = { value }
    }
    return place
  }

  return (text) => {
    if (values.has(text)) return values.get(text)
    const ref = parseReadableRef(text)
    const place = ref === null ? { value: undefined } : walk(ref, HOPS_MAX)
    const value = 'value' in place ? place.value : undefined
    if (values.size === KEPT_REFS_MAX) values.clear()
    values.set(text, value)
    return value
  }
}
