/** The heading of a column of a table that is sorted by the server. */
import { html } from 'htm/preact'
import { icon } from '../icon.ts'

interface SortHeadingProps {
  readonly label: string
  readonly isNumber: boolean
  /** Null: the table is sorted by another column. */
  readonly direction: 'asc' | 'desc' | null
  readonly onSort: () => void
}

const ORDERS = { asc: 'ascending', desc: 'descending' } as const
const ARROWS = { asc: 'arrow-up', desc: 'arrow-down' } as const

export function SortHeading({ label, isNumber, direction, onSort }: SortHeadingProps) {
  return html`<th
    scope="col"
    class=${isNumber ? 'number' : ''}
    aria-sort=${direction === null ? undefined : ORDERS[direction]}
  ><button class="sort" onClick=${onSort}>${label}${direction !== null && icon(ARROWS[direction])}</button></th>`
}
