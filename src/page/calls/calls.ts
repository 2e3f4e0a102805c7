/** The calls of a project as a table. */
import { html } from 'htm/preact'
import { useCallback, useEffect, useState } from 'preact/hooks'
import { ask, wordsOf } from '../api/client.ts'
import type { CallsQuestion } from '../api/wire.ts'
import { formatCount, formatTime } from '../parts/format.ts'
import { Failure } from '../parts/notice.ts'
import { useLoad } from '../parts/use-load.ts'
import { WindowList } from '../parts/window-list.ts'
import { query, setQuery } from '../shell/location.ts'
import { CallRow, ColumnNames } from './call-row.ts'
import { exportCalls } from './export.ts'
import { FilterBar } from './filter-bar.ts'
import { questionName, questionOf } from './filters.ts'
import { type CallPages, openCallPages } from './pages.ts'

const ROW_PX = 32

export function Calls({ project }: { readonly project: string }) {
  const [untilMs, setUntil] = useState(Date.now)
  const question = questionOf(project, untilMs)
  const name = `${questionName.value} ${untilMs}`
  const count = useLoad(name, (signal) =>
    ask<{ count: number }>('/calls/query_stats', question, { signal }),
  )
  return html`<${FilterBar} />
    <div class="bar">
      <b>${count.value === null ? '…' : formatCount(count.value.count)} calls</b>
      <${Stretch} />
      <span class="push"></span>
      <button onClick=${() => setUntil(Date.now())}>Refresh</button>
      <${Export} question=${question} project=${project} />
    </div>
    <${Failure} words=${count.failure} />
    <${Table} key=${name} question=${question} count=${count.value?.count ?? 0} project=${project} />`
}

function Stretch() {
  const [from, to] = [query.value.get('from'), query.value.get('to')]
  if (from === null && to === null) return null
  return html`<span class="faint">
    ${from === null ? '' : `from ${formatTime(from)} `}${to === null ? '' : `to ${formatTime(to)} `}
    <button class="quiet" onClick=${() => setQuery({ from: null, to: null })}>any time</button>
  </span>`
}

interface TableProps {
  readonly question: CallsQuestion
  readonly count: number
  readonly project: string
}

function Table({ question, count, project }: TableProps) {
  const [, redraw] = useState(0)
  const [failure, setFailure] = useState<string | null>(null)
  const [pages, setPages] = useState<CallPages | null>(null)
  useEffect(() => {
    const opened = openCallPages(
      question,
      () => redraw((last) => last + 1),
      (error) => setFailure(wordsOf(error)),
    )
    setPages(opened)
    return opened.close
  }, [])
  const onWindow = useCallback((first: number, last: number) => pages?.show(first, last), [pages])
  return html`<${Failure} words=${failure} />
    <div class="table" role="table" aria-label="Calls" aria-rowcount=${count}>
      <${ColumnNames} />
      <${WindowList}
        count=${count}
        rowHeight=${ROW_PX}
        label="Calls"
        role="rowgroup"
        onWindow=${onWindow}
        renderRow=${(index: number) =>
          html`<${CallRow} key=${index} index=${index} call=${pages?.at(index)} project=${project} />`}
      />
    </div>`
}

function Export({
  question,
  project,
}: {
  readonly question: CallsQuestion
  readonly project: string
}) {
  const [told, tell] = useState<string | null>(null)
  const start = (kind: 'jsonl' | 'csv') => {
    tell('0 calls …')
    exportCalls(project, question, kind, (calls) => tell(`${formatCount(calls)} calls …`)).then(
      () => tell(null),
      (error) => tell(wordsOf(error)),
    )
  }
  return html`<span role="status" class="faint">${told}</span>
    <button onClick=${() => start('jsonl')}>Export JSONL</button>
    <button onClick=${() => start('csv')}>Export CSV</button>`
}
