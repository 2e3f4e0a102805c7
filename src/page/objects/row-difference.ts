/** Differences of the rows of two tables: a list, and the members of the row that is chosen. */
import { html } from 'htm/preact'
import { useMemo, useState } from 'preact/hooks'
import { formatCount, preview } from '../parts/format.ts'
import { type Column, Grid } from '../parts/tables/grid.ts'
import { ChangeList } from './change-list.ts'
import { listRowChanges, type Row, type RowChange } from './row-changes.ts'
import { type Change, listChanges } from './value-changes.ts'

interface RowDifferenceProps {
  readonly before: readonly Row[]
  readonly after: readonly Row[]
}

export function RowDifference({ before, after }: RowDifferenceProps) {
  const changes = useMemo(() => listRowChanges(before, after), [before, after])
  const kinds = Map.groupBy(changes, ({ kind }) => kind)
  const count = (kind: RowChange['kind']) => kinds.get(kind)?.length ?? 0
  const kept = before.length - count('removed') - count('changed')
  return html`<p>
      ${formatCount(count('added'))} added, ${formatCount(count('removed'))} removed, ${formatCount(count('changed'))} changed,
      ${' '}${formatCount(kept)} kept
    </p>
    ${changes.length === 0 && html`<p class="notice">The rows are the same, in a different order.</p>`}
    ${changes.length > 0 && html`<${RowChangeList} changes=${changes} />`}`
}

/** Changed rows as a list, and what differs in the row that is selected. */
export function RowChangeList({ changes }: { readonly changes: readonly RowChange[] }) {
  // An index, because a row that is edited again is another change.
  const [at, setAt] = useState(0)
  const chosen = changes[at]
  const choose = (change: RowChange) => setAt(changes.indexOf(change))
  return html`<${Grid}
      label="Differences of rows"
      columns=${columnsFor(choose)}
      count=${changes.length}
      at=${(index: number) => changes[index]}
      isChosen=${(change: RowChange) => change === chosen}
      onChoose=${choose}
      rowsMax=${10}
    />
    ${
      chosen !== undefined &&
      html`<section aria-label="Differences of the row">
        <${ChangeList} key=${at} changes=${changesOf(chosen)} />
      </section>`
    }`
}

function changesOf({ kind, before, after }: RowChange): readonly Change[] {
  if (kind === 'changed') return listChanges(before?.val, after?.val)
  return [{ path: '', kind, before: before?.val, after: after?.val }]
}

function columnsFor(choose: (change: RowChange) => void): readonly Column<RowChange>[] {
  return [
    {
      name: 'row',
      label: 'Row',
      width: 64,
      isNumber: true,
      cell: (change) =>
        html`<button class="quiet" title="Show what differs" onClick=${() => choose(change)}>${formatCount((change.after ?? change.before)?.original_index)}</button>`,
    },
    {
      name: 'kind',
      label: 'Change',
      width: 80,
      cell: ({ kind }) => html`<span class=${`change ${kind}`}>${kind}</span>`,
    },
    {
      name: 'before',
      label: 'Before',
      width: 200,
      grow: 1,
      cell: ({ before }) => preview(before?.val),
    },
    {
      name: 'after',
      label: 'After',
      width: 200,
      grow: 1,
      cell: ({ after }) => preview(after?.val),
    },
  ]
}
