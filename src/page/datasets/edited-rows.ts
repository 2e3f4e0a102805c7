/** The rows of a dataset with the changes that are not saved yet; the chosen row is changed below the table, as one types. */
import { html } from 'htm/preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { errorText } from '../api/client.ts'
import type { ObjectVersion } from '../objects/kinds.ts'
import { readRows, tableOf } from '../objects/object-reads.ts'
import type { Row } from '../objects/row-changes.ts'
import { Cell, namesOf, SAMPLE_ROWS } from '../objects/row-table.ts'
import { formatCount } from '../parts/format.ts'
import { textOf } from '../parts/hooks/use-submit.ts'
import { Failure } from '../parts/notice.ts'
import { type Column, Grid } from '../parts/tables/grid.ts'
import { openRowPages, type RowPages } from '../parts/tables/row-pages.ts'
import { RowPanel } from '../parts/tables/row-panel.ts'
import { type RowEdits, readRow, withAddedAt, withChange } from './row-edits.ts'

const LINES_MAX = 20

interface EditedRowsProps {
  readonly project: string
  readonly base: { readonly version: ObjectVersion | null; readonly count: number }
  readonly edits: RowEdits
  readonly onChange: (edits: RowEdits) => void
}

/** A row as it would be saved. */
interface ShownRow {
  readonly index: number
  readonly kind: 'added' | 'changed' | 'removed' | null
  readonly val: unknown
  /** Null for an added row. */
  readonly before: Row | null
}

export function EditedRows({ project, base, edits, onChange }: EditedRowsProps) {
  const { pages, failure } = usePages(project, tableOf(base.version?.val))
  const [chosen, choose] = useState<number | null>(null)
  const count = base.count + edits.added.length
  const at = (index: number) => rowAt(index, base.count, edits, pages)
  const sample = Array.from({ length: Math.min(SAMPLE_ROWS, count) }, (_, index) => at(index))
  const added = edits.added.slice(-SAMPLE_ROWS).map((val) => ({ val }))
  const names = namesOf([...sample.flatMap((row) => row ?? []), ...added])
  const row = chosen === null || chosen >= count ? undefined : at(chosen)
  return html`<${Failure} words=${failure} />
    ${
      count > 0 &&
      html`<${Grid}
      label="Rows to edit"
      columns=${columnsOf(names, choose)}
      count=${count}
      at=${at}
      onWindow=${(first: number, last: number) => pages?.show(first, Math.min(last, base.count))}
      isChosen=${({ index }: ShownRow) => index === chosen}
      onChoose=${({ index }: ShownRow) => choose(index)}
      rowsMax=${12}
    />`
    }
    ${row !== undefined && html`<${RowEditor} key=${row.index} row=${row} base=${base.count} edits=${edits} onChange=${onChange} onClose=${() => choose(null)} />`}`
}

function usePages(project: string, table: string | null) {
  const [, redraw] = useState(0)
  const [failure, setFailure] = useState<string | null>(null)
  const pages = useMemo(
    () =>
      table === null
        ? null
        : openRowPages<Row>(
            (page, signal) => readRows(project, table, page, signal),
            () => redraw((last) => last + 1),
            (error) => setFailure(errorText(error)),
          ),
    [project, table],
  )
  useEffect(() => () => pages?.close(), [pages])
  return { pages, failure }
}

function rowAt(
  index: number,
  count: number,
  { changed, added }: RowEdits,
  pages: RowPages<Row> | null,
): ShownRow | undefined {
  if (index >= count) return { index, kind: 'added', val: added[index - count], before: null }
  const edit = changed.get(index)
  if (edit === undefined) {
    const row = pages?.at(index)
    return row && { index, kind: null, val: row.val, before: row }
  }
  const { before, val } = edit
  return { index, kind: val === null ? 'removed' : 'changed', val: val ?? before.val, before }
}

function columnsOf(
  names: readonly string[],
  choose: (index: number) => void,
): readonly Column<ShownRow>[] {
  return [
    {
      name: ' row',
      label: 'Row',
      width: 64,
      isNumber: true,
      cell: ({ index }) =>
        html`<button type="button" class="quiet" title="Change the row" onClick=${() => choose(index)}>${formatCount(index)}</button>`,
    },
    {
      name: ' kind',
      label: 'Change',
      width: 80,
      cell: ({ kind }) => html`<span class=${`change ${kind ?? ''}`}>${kind}</span>`,
    },
    ...names.map(
      (name): Column<ShownRow> => ({
        name,
        label: name,
        width: 140,
        grow: 1,
        cell: ({ val }) =>
          html`<${Cell} value=${(val as Record<string, unknown> | null)?.[name]} />`,
      }),
    ),
  ]
}

interface RowEditorProps {
  readonly row: ShownRow
  /** Rows of the version that is edited. */
  readonly base: number
  readonly edits: RowEdits
  readonly onChange: (edits: RowEdits) => void
  readonly onClose: () => void
}

function RowEditor({ row, base, edits, onChange, onClose }: RowEditorProps) {
  const { index, kind, before } = row
  const [text, setText] = useState(() => JSON.stringify(row.val, null, 2))
  const [failure, setFailure] = useState<string | null>(null)
  const apply = (val: object | null) => {
    onChange(
      before === null ? withAddedAt(edits, index - base, val) : withChange(edits, before, val),
    )
  }
  const run = (work: () => void) => {
    try {
      work()
      setFailure(null)
    } catch (error) {
      setFailure(errorText(error))
    }
  }
  // Each input changes the row: a text that waits for a button would be lost when the panel closes.
  const type = textOf((next) => {
    setText(next)
    run(() => apply(readRow(next)))
  })
  const remove = () =>
    run(() => {
      apply(null)
      onClose()
    })
  const restore = () =>
    run(() => {
      apply(before?.val as object)
      setText(JSON.stringify(before?.val, null, 2))
    })
  return html`<${RowPanel} label="Row to edit" title=${`Row ${formatCount(index)}`} onClose=${onClose}>
    <div class="fields">
      <label>The row, a JSON object
        <textarea rows=${Math.min(LINES_MAX, text.split('\n').length + 1)} spellcheck=${false} value=${text} onInput=${type}></textarea>
      </label>
      <${Failure} words=${failure} />
      <div class="bar">
        ${kind !== 'removed' && html`<button type="button" class="danger" onClick=${remove}>Remove the row</button>`}
        ${before !== null && kind !== null && html`<button type="button" onClick=${restore}>Restore the row</button>`}
        <span role="status" class="faint">${kind}</span>
      </div>
    </div>
  <//>`
}
