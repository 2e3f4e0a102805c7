/** The rows of a table, fetched in pages as they scroll into view, and one row in full. */
import { html } from 'htm/preact'
import { useCallback, useEffect, useState } from 'preact/hooks'
import { errorText } from '../api/client.ts'
import { formatCount, preview } from '../parts/format.ts'
import { useLoad } from '../parts/hooks/use-load.ts'
import { Failure, Loading } from '../parts/notice.ts'
import { type Column, Grid } from '../parts/tables/grid.ts'
import { openRowPages, type RowPages } from '../parts/tables/row-pages.ts'
import { RowPanel } from '../parts/tables/row-panel.ts'
import { JsonTree } from '../parts/values/json-tree.ts'
import { RefLink } from '../parts/values/ref-link.ts'
import { parseRef } from '../parts/values/refs.ts'
import { query, setQuery } from '../shell/location.ts'
import { countRows, readRows } from './object-reads.ts'
import type { Row } from './row-changes.ts'

/** Limit: columns; more are seen when a row is opened. */
const COLUMNS_MAX = 20
/** Rows whose members become columns. */
export const SAMPLE_ROWS = 50

interface RowTableProps {
  readonly project: string
  /** Digest of the table. */
  readonly table: string
}

export function RowTable({ project, table }: RowTableProps) {
  const loaded = useLoad(`${project} ${table}`, async (signal) => ({
    count: await countRows(project, table, signal),
    names: namesOf(await readRows(project, table, { limit: SAMPLE_ROWS }, signal)),
  }))
  if (loaded.value === null)
    return html`<${Failure} words=${loaded.failure} />${loaded.isLoading && html`<${Loading} />`}`
  const { count, names } = loaded.value
  const sort = query.value.get('sort') ?? ''
  return html`<h2 class="apart">${formatCount(count)} ${count === 1 ? 'row' : 'rows'}</h2>
    <${Rows} project=${project} table=${table} count=${count} names=${names} sort=${sort} />
    <${WholeRow} project=${project} table=${table} digest=${query.value.get('row') || null} />`
}

/** Names of members in order of appearance. */
export function namesOf(rows: readonly Pick<Row, 'val'>[]): readonly string[] {
  const names = new Set(rows.flatMap(({ val }) => Object.keys((val ?? {}) as object)))
  return [...names].slice(0, COLUMNS_MAX)
}

interface RowsProps extends RowTableProps {
  readonly count: number
  readonly names: readonly string[]
  /** A name, with `-` before it for the greatest first; '' for the order of the table. */
  readonly sort: string
}

function Rows({ project, table, count, names, sort }: RowsProps) {
  const [, redraw] = useState(0)
  const [failure, setFailure] = useState<string | null>(null)
  const [pages, setPages] = useState<RowPages<Row> | null>(null)
  useEffect(() => {
    setFailure(null)
    const field = sort.replace(/^-/, '')
    const direction = sort.startsWith('-') ? ('desc' as const) : ('asc' as const)
    const order = field === '' ? {} : { sort_by: [{ field, direction }] }
    const opened = openRowPages<Row>(
      (page, signal) => readRows(project, table, { ...page, ...order }, signal),
      () => redraw((last) => last + 1),
      (error) => setFailure(errorText(error)),
    )
    setPages(opened)
    return opened.close
  }, [sort])
  const onWindow = useCallback((first: number, last: number) => pages?.show(first, last), [pages])
  return html`<${Failure} words=${failure} />
    <${Grid}
      label="Rows"
      columns=${columnsOf(names, sort)}
      count=${count}
      at=${(index: number) => pages?.at(index)}
      onWindow=${onWindow}
      isChosen=${({ digest }: Row) => digest === query.value.get('row')}
      onChoose=${({ digest }: Row) => setQuery({ row: digest }, { isStep: true })}
      rowsMax=${16}
      order=${sort}
    />`
}

function columnsOf(names: readonly string[], sort: string): readonly Column<Row>[] {
  const place: Column<Row> = {
    name: ' place',
    label: 'Row',
    width: 64,
    isNumber: true,
    cell: ({ original_index, digest }) =>
      html`<button class="quiet" title="Show the whole row" onClick=${() => setQuery({ row: digest }, { isStep: true })}>${formatCount(original_index)}</button>`,
  }
  return [place, ...names.map((name) => columnOf(name, sort))]
}

function columnOf(name: string, sort: string): Column<Row> {
  const sorted = sort === name ? 'asc' : sort === `-${name}` ? 'desc' : null
  const next = sorted === null ? name : sorted === 'asc' ? `-${name}` : null
  return {
    name,
    label: name,
    width: 140,
    grow: 1,
    sorted,
    // The server would read a dot as a path into the member.
    ...(/^[^.]+$/.test(name) && !name.startsWith('-')
      ? { onSort: () => setQuery({ sort: next }) }
      : {}),
    cell: ({ val }) => html`<${Cell} value=${(val as Record<string, unknown> | null)?.[name]} />`,
  }
}

export function Cell({ value }: { readonly value: unknown }) {
  if (parseRef(value) !== null) return html`<${RefLink} value=${value} />`
  return html`<span title=${preview(value, 1000)}>${preview(value)}</span>`
}

interface WholeRowProps extends RowTableProps {
  readonly digest: string | null
}

function WholeRow({ project, table, digest }: WholeRowProps) {
  const loaded = useLoad(`${project} ${table} ${digest}`, async (signal) =>
    digest === null
      ? null
      : ((await readRows(project, table, { filter: { row_digests: [digest] } }, signal))[0] ??
        null),
  )
  if (digest === null) return null
  const row = loaded.value
  const title = row === null ? 'Row' : `Row ${formatCount(row.original_index)}`
  return html`<${RowPanel} key=${digest} label="Row" title=${title} onClose=${() => setQuery({ row: null }, { isStep: true })}>
    <${Failure} words=${loaded.failure} />
    ${row === null && !loaded.isLoading && loaded.failure === null && html`<p class="notice">The table has no such row.</p>`}
    ${row !== null && html`<${JsonTree} value=${row.val} />`}
  <//>`
}
