/** The read job that sorts the rows of a table by fields inside them. Returns their indexes, never contents. */
import { createTableOrder } from '../../../domain/objects/table-order.ts'
import type { StoredTable, TableSort } from '../../api/objects/tables.ts'
import { FIND_ROW } from '../../base/objects/tables.sql.ts'
import type { ReadJob } from '../read/read-job.ts'
import { openTableBlocks } from './table-blocks.ts'

interface TableOrderInput {
  readonly table: StoredTable
  readonly sort: TableSort
}

/** Returns the indexes of all rows in sorted order; the sort is stable. */
export const sortTable: ReadJob<TableOrderInput, Uint32Array> = function* (
  db,
  { table, sort },
  checkpoint,
) {
  const findRow = db.prepare(FIND_ROW)
  const blocks = openTableBlocks(db, table)
  const order = createTableOrder(sort, checkpoint)
  for (let place = 0; place < table.row_count; place++) {
    if (checkpoint()) yield
    const row = findRow.get({ value_key: blocks.keyAt(place) }) as { val_json: string }
    order.add(JSON.parse(row.val_json))
  }
  return order.places()
}
