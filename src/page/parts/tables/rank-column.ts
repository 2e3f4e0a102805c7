/** The column of the ranks of rows. */
import type { Column } from './grid.ts'

/** @param ranks - a row without one shows a dash */
export function rankColumn<Row>(ranks: ReadonlyMap<Row, number>): Column<Row> {
  return {
    name: 'place',
    label: 'Rank',
    width: 44,
    isNumber: true,
    cell: (row) => ranks.get(row) ?? '–',
  }
}
