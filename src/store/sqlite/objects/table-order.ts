/** The read job that sorts the rows of a table by fields inside of them. Answers places, never contents. */
import type { StoredTable, TableSort } from '../../api/objects/tables.ts'
import type { ReadJob } from '../read/read-job.ts'
import { openTableBlocks } from './table-blocks.ts'
import { FIND_ROW } from './tables.sql.ts'

interface TableOrderInput {
  readonly table: StoredTable
  readonly sort: TableSort
}

/** Numbers, texts, true and false, anything else, nothing: in this order. */
type SortKey = readonly [rank: number, value: number | string]

const NOTHING: SortKey = [4, 0]
const COMPARED_PER_CHECKPOINT = 1000

/** All places, sorted; equals keep their order. */
export const sortTable: ReadJob<TableOrderInput, Uint32Array> = function* (
  db,
  { table, sort },
  checkpoint,
) {
  const findRow = db.prepare(FIND_ROW)
  const blocks = openTableBlocks(db, table)
  const paths = sort.map(({ field }) => field.split('.'))
  const keys: SortKey[][] = []
  for (let place = 0; place < table.row_count; place++) {
    if (checkpoint()) yield
    const { val_json } = findRow.get(blocks.keyAt(place)) as { val_json: string }
    const row: unknown = JSON.parse(val_json)
    keys.push(paths.map((path) => toSortKey(valueAt(row, path))))
  }
  const signs = sort.map(({ direction }) => (direction === 'asc' ? 1 : -1))
  const places = Uint32Array.from(keys.keys())
  let compared = 0
  return places.sort((left, right) => {
    compared += 1
    if (compared % COMPARED_PER_CHECKPOINT === 0) checkpoint()
    return compare(keys[left], keys[right], signs) || left - right
  })
}

function compare(
  left: readonly SortKey[] = [],
  right: readonly SortKey[] = [],
  signs: readonly number[],
): number {
  for (const [at, sign] of signs.entries()) {
    const [leftRank, leftValue] = left[at] ?? NOTHING
    const [rightRank, rightValue] = right[at] ?? NOTHING
    if (leftRank !== rightRank) return leftRank - rightRank
    if (leftValue !== rightValue) return (leftValue < rightValue ? -1 : 1) * sign
  }
  return 0
}

function toSortKey(value: unknown): SortKey {
  if (typeof value === 'number') return [0, value]
  if (typeof value === 'string') return [1, value]
  if (typeof value === 'boolean') return [2, Number(value)]
  return value === null || value === undefined ? NOTHING : [3, JSON.stringify(value)]
}

function valueAt(row: unknown, path: readonly string[]): unknown {
  let value = row
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return null
    value = (value as Record<string, unknown>)[key]
  }
  return value
}
