/**
 * Reads the targets of refs for conditions over many rows, each content once, in SQLite and PostgreSQL alike. Routes that
 * return values to clients use `routes/objects/ref-reader.ts`, which keeps every digit.
 */
import { canUseProject } from '../../../domain/access/permissions.ts'
import {
  HOPS_MAX,
  parseReadableRef,
  type ReadableRef,
  type RefEdge,
  stepInto,
} from '../../../domain/objects/readable-ref.ts'
import type { StoredTable } from '../../api/objects/tables.ts'
import { first, type Steps } from '../db/steps.ts'
import { findContent, findNamed } from './object-reads.ts'
import { FIND_VERSION_KEYS } from './objects.sql.ts'
import { BLOCK_ROWS, FIND_ROW, FIND_TABLE, FIND_TABLE_BLOCK } from './tables.sql.ts'

type RefTarget = { readonly table: StoredTable } | { readonly value: unknown }

interface RefReach {
  /** Patterns of the projects that may be read. */
  readonly projects: readonly string[]
  /** Returns the key at an index of a block, as the database returns the block. */
  keyIn(value_keys: unknown, place: number): number
  /** Called when contents are released. */
  onClear?(): void
}

/**
 * @returns a function that reads the value of a ref: undefined for text that is no ref of an object, op or table, for
 * missing or deleted targets, and for other projects
 */
export function createRefSteps(reach: RefReach): (ref: string) => Steps<unknown> {
  const contents = createContentCache(reach.onClear)

  function* readOnce(key: string, read: () => Steps<string | null>): Steps<unknown> {
    return contents.has(key) ? contents.get(key) : contents.add(key, yield* read())
  }

  function readContent(project_id: string, digest: string): Steps<unknown> {
    return readOnce(`${project_id}:${digest}`, () => findContent(project_id, digest))
  }

  function* openTarget({ project_id, target }: ReadableRef): Steps<RefTarget> {
    if (!canUseProject(reach, project_id)) return { value: undefined }
    if (target.kind === 'table') {
      const table = yield* first<StoredTable>(FIND_TABLE, { project_id, digest: target.digest })
      return table ? { table } : { value: undefined }
    }
    type Found = { readonly digest: string; readonly deleted_at_us: number | null }
    const name = { project_id, object_id: target.object_id }
    const found = yield* findNamed<Found>(FIND_VERSION_KEYS, name, target.version)
    if (found === undefined || found.deleted_at_us !== null) return { value: undefined }
    return { value: yield* readContent(project_id, found.digest) }
  }

  function* stepIntoTable(table: StoredTable, { kind, value }: RefEdge): Steps<unknown> {
    // Finds a row by its digest. Checking that it belongs to the table would read all keys of the table.
    if (kind === 'id') return yield* readContent(table.project_id, value)
    if (kind !== 'index' || Number(value) >= table.row_count) return undefined
    const { table_key } = table
    const block = Math.floor(Number(value) / BLOCK_ROWS)
    const found = yield* first<{ value_keys: unknown }>(FIND_TABLE_BLOCK, { table_key, block })
    const value_key = reach.keyIn(found?.value_keys, Number(value) % BLOCK_ROWS)
    return yield* readOnce(`row ${value_key}`, function* () {
      return (yield* first<{ val_json: string }>(FIND_ROW, { value_key }))?.val_json ?? null
    })
  }

  function* follow(value: unknown, hops: number): Steps<RefTarget> {
    const ref = typeof value === 'string' && hops > 0 ? parseReadableRef(value) : null
    return ref === null ? { value } : yield* walk(ref, hops - 1)
  }

  function* walk(ref: ReadableRef, hops: number): Steps<RefTarget> {
    let place = yield* openTarget(ref)
    for (const edge of ref.edges) {
      const from = 'value' in place ? yield* follow(place.value, hops) : place
      const value =
        'table' in from ? yield* stepIntoTable(from.table, edge) : stepInto(from.value, edge)
      place = { value }
    }
    return place
  }

  return function* (text) {
    const ref = parseReadableRef(text)
    const place = ref === null ? { value: undefined } : yield* walk(ref, HOPS_MAX)
    return 'value' in place ? place.value : undefined
  }
}

/** Limit: characters of parsed contents and of their names; the cache is cleared when it is full. */
const CACHED_CHARACTERS_MAX = 32 * 1024 * 1024

/** @param onClear - called when the cache is cleared */
function createContentCache(onClear: () => void = () => undefined) {
  const contents = new Map<string, unknown>()
  let characters = 0
  return {
    has: (key: string) => contents.has(key),
    get: (key: string) => contents.get(key),
    /** Parses and keeps a content; returns it, or undefined for none. */
    add(key: string, json: string | null): unknown {
      const size = key.length + (json?.length ?? 0)
      characters += size
      if (characters > CACHED_CHARACTERS_MAX) {
        contents.clear()
        onClear()
        characters = size
      }
      const value = json === null ? undefined : JSON.parse(json)
      contents.set(key, value)
      return value
    },
  }
}
