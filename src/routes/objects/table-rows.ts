/**
 * Moves table rows between the text of a request, the store, and the text of a response. Long lists are processed in
 * slices that yield to the event loop; a response is written while it is read.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { eachItem, splitMembers } from '../../domain/json/json-members.ts'
import { digestOfJson, digestOfRows, requireDigest } from '../../domain/objects/digests.ts'
import type { TableChange } from '../../domain/objects/table-update.ts'
import type { TableUpdateRequest } from '../../schemas/objects/table.ts'
import type { NewRow, StoredTable, TableStore } from '../../store/api/objects/tables.ts'

/** Limit: characters that are digested in one turn, a few milliseconds. */
const SLICE_CHARACTERS = 65_536

/** Returns a function to call with each processed text; it yields to the event loop after each slice. */
function createRests(): (text: string) => Promise<void> {
  let characters = 0
  return async (text) => {
    characters += text.length
    if (characters < SLICE_CHARACTERS) return
    characters = 0
    await nextTurn()
  }
}

/**
 * Returns the rows of a list verbatim, with their digests.
 *
 * @param text - JSON of the list
 */
export async function digestRows(text: string): Promise<NewRow[]> {
  const rows: NewRow[] = []
  const rest = createRests()
  for (const json of eachItem(text)) {
    rows.push({ digest: digestOfJson(json), val_json: json })
    await rest(json)
  }
  return rows
}

/**
 * Stores a table.
 *
 * @param expected - the digest that it must have; null or undefined: any
 * @throws ApiError digest_mismatch
 */
export async function storeTable(
  tables: TableStore,
  project_id: string,
  rows: readonly NewRow[],
  expected?: string | null,
) {
  const row_digests = rows.map((row) => row.digest)
  const digest = digestOfRows(row_digests)
  requireDigest(expected, digest, 'table.expected_digest')
  await tables.insertRows(project_id, rows)
  await tables.createTable(project_id, digest, row_digests)
  return { digest, row_digests }
}

/**
 * Returns the changes of an update with the digests of their rows, and the rows.
 *
 * @param bodyText - the text of the request, from which the rows are taken byte for byte
 */
export async function digestChanges(updates: TableUpdateRequest['updates'], bodyText: string) {
  const rows: NewRow[] = []
  const changes: TableChange[] = []
  const rest = createRests()
  let at = 0
  for (const json of eachItem(splitMembers(bodyText).get('updates') ?? '[]')) {
    await rest(json)
    const update = updates[at++]
    if (update === undefined) break
    if ('pop' in update) {
      changes.push({ kind: 'pop', index: update.pop.index })
      continue
    }
    const kind = 'append' in update ? 'append' : 'insert'
    const spec = splitMembers(json).get(kind) ?? '{}'
    const val_json = splitMembers(spec).get('row') ?? '{}'
    const digest = digestOfJson(val_json)
    rows.push({ digest, val_json })
    changes.push(
      'insert' in update
        ? { kind: 'insert', index: update.insert.index, digest }
        : { kind: 'append', digest },
    )
  }
  return { rows, changes }
}

/** Yields rows as JSON texts, in groups; contents are written as they were received. */
export async function* renderRows(
  tables: TableStore,
  table: StoredTable,
  indices: Iterable<number>,
): AsyncGenerator<string[]> {
  for await (const group of tables.readRows(table, indices)) {
    yield group.map(
      ({ digest, val_json, original_index }) =>
        `{"digest":"${digest}","val":${val_json},"original_index":${original_index}}`,
    )
  }
}
