/**
 * Reads the targets of refs: from an object or a table along edges, following refs on the way. Reads
 * nothing of a project that the caller may not use.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { parseExact } from '../../domain/json/json-text.ts'
import { requireObject } from '../../domain/objects/object-view.ts'
import {
  HOPS_MAX,
  parseReadableRef,
  type ReadableRef,
  type RefEdge,
  stepInto,
} from '../../domain/objects/readable-ref.ts'
import { ApiError, isNotFound } from '../../errors.ts'
import type { ObjectStore } from '../../store/api/objects/objects.ts'
import type { NewRow, RowIndex, StoredTable, TableStore } from '../../store/api/objects/tables.ts'
import { CONTENT_BYTES_MAX } from './objects.ts'

/** Limit: rows of a table that is read as a whole. */
const ROWS_MAX = 10_000

export interface RefReaderOptions {
  readonly objects: ObjectStore
  readonly tables: TableStore
  /** Limit: bytes of contents that are read for all refs together. Default: those of one response. */
  readonly contentBytesMax?: number
  canRead(projectId: string): boolean
}

/** The current position of a path: a table whose rows are not read yet, or a value. */
type Node = { readonly table: StoredTable } | { readonly value: unknown }

const NOTHING: Node = { value: null }

/** Reads refs; one per request, because it caches contents. */
type ReadRef = (ref: ReadableRef) => Promise<unknown>

/**
 * Returns the value at the end of a ref; null when there is none, or the object was deleted.
 *
 * @throws ApiError object_not_found, table_not_found for a ref that is unknown or of a project that the
 * caller may not use; validation_failed for more than contentBytesMax bytes
 *
 * Spec: §2.1. Choice: the ref itself must exist; a gap further inside reads as null.
 */
export function createRefReader(options: RefReaderOptions): ReadRef {
  const { objects, tables, canRead, contentBytesMax } = options
  const spend = createBudget(contentBytesMax)
  const { readRow, readRows } = createRowReader(tables, spend)
  const contents = new Map<string, unknown>()
  let hopsLeft = 0

  async function readContent(projectId: string, digest: string, bytes: number): Promise<unknown> {
    const key = `${projectId}:${digest}`
    if (contents.has(key)) return contents.get(key)
    spend(bytes)
    const value = parseExact((await objects.findContent(projectId, digest)) ?? 'null')
    contents.set(key, value)
    return value
  }

  async function openTarget({ project_id, target }: ReadableRef): Promise<Node> {
    if (target.kind === 'table') {
      const table = canRead(project_id) ? await tables.findTable(project_id, target.digest) : null
      if (table === null) throw new ApiError('table_not_found')
      return { table }
    }
    const { object_id, version } = target
    const found = canRead(project_id)
      ? await objects.findObject(project_id, object_id, version, false)
      : null
    if (found !== null && found.deleted_at_us !== null) return NOTHING
    const { digest, size_bytes } = requireObject(found)
    return { value: await readContent(project_id, digest, size_bytes) }
  }

  /** Returns the target of a ref that is itself a value; a malformed one has none. */
  async function follow(value: unknown): Promise<Node> {
    const ref = typeof value === 'string' ? parseReadableRef(value) : null
    if (ref === null || hopsLeft === 0) return { value }
    hopsLeft -= 1
    try {
      return await walk(ref)
    } catch (error) {
      if (isNotFound(error)) return NOTHING
      throw error
    }
  }

  async function walk(ref: ReadableRef): Promise<Node> {
    let node = await openTarget(ref)
    for (const edge of ref.edges) {
      const from = 'value' in node ? await follow(node.value) : node
      node =
        'table' in from ? await readRow(from.table, edge) : { value: stepInto(from.value, edge) }
    }
    return node
  }

  return async (ref) => {
    await nextTurn()
    hopsLeft = HOPS_MAX
    const node = await walk(ref)
    if ('value' in node) return node.value
    if (node.table.row_count <= ROWS_MAX)
      return readRows(node.table, Array(node.table.row_count).keys())
    const message = `A table of more than ${ROWS_MAX} rows is read by table/query.`
    throw new ApiError('validation_failed', { message, param: 'refs' })
  }
}

/**
 * Returns a ref with the digest of the version in place of an alias, a number or `latest`; a ref that is unknown, or of a
 * table, is unchanged. Checks no rights: reading the ref does.
 */
export async function pinRef(text: string, objects: ObjectStore): Promise<string> {
  const ref = parseReadableRef(text)
  if (ref?.target.kind !== 'object') return text
  const { object_id, version } = ref.target
  const found = await objects.findObject(ref.project_id, object_id, version, false)
  const named = `/${object_id}:${version}`
  return found === null ? text : text.replace(named, () => `/${object_id}:${found.digest}`)
}

/** Counts bytes of contents down. @throws ApiError validation_failed when there are more */
export function createBudget(bytesMax = CONTENT_BYTES_MAX): (bytes: number) => void {
  let bytesLeft = bytesMax
  return (bytes) => {
    bytesLeft -= bytes
    if (bytesLeft >= 0) return
    const message = `refs lead to more than ${bytesMax} bytes: ask for fewer`
    throw new ApiError('validation_failed', { message, param: 'refs' })
  }
}

/** Reads rows of tables; caches the index of a table whose rows are looked up by digest. */
function createRowReader(tables: TableStore, spend: (bytes: number) => void) {
  const indexes = new Map<number, Promise<RowIndex>>()

  function parseRow({ val_json }: NewRow): unknown {
    spend(val_json.length)
    return parseExact(val_json)
  }

  async function readRows(table: StoredTable, indices: Iterable<number>): Promise<unknown[]> {
    const rows: unknown[] = []
    for await (const group of tables.readRows(table, indices)) {
      for (const row of group) rows.push(parseRow(row))
    }
    return rows
  }

  async function readRow(table: StoredTable, { kind, value }: RefEdge): Promise<Node> {
    if (kind === 'index') {
      const index = Number(value)
      const [row] = index < table.row_count ? await readRows(table, [index]) : []
      return { value: row ?? null }
    }
    if (kind !== 'id') return NOTHING
    const index = indexes.get(table.table_key) ?? tables.indexRows(table)
    indexes.set(table.table_key, index)
    const row = await (await index).findRow(value)
    return row === null ? NOTHING : { value: parseRow(row) }
  }

  return { readRow, readRows }
}
