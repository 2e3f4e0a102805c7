/**
 * Saves the calls of the search, or the selected ones, without a limit: the browser itself downloads them, straight to
 * the disk.
 */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { errorText, requestJson } from '../../api/client.ts'
import type { CallsQueryBody } from '../../api/wire.ts'
import { Failure } from '../../parts/notice.ts'
import { Menu } from '../../parts/overlay/menu.ts'
import { type Column, columns } from '../columns.ts'
import { selectedQuery, type Target } from '../selection/selected-query.ts'
import { isEmpty } from '../selection/selection.ts'

type ExportKind = 'jsonl' | 'csv'

export function ExportButtons({ target }: { readonly target: Target }) {
  const [failure, setFailure] = useState<string | null>(null)
  const start = async (event: Event, kind: ExportKind) => {
    setFailure(null)
    ;(event.currentTarget as HTMLElement).closest('details')?.removeAttribute('open')
    try {
      const question = isEmpty(target.selection) ? target.question : selectedQuery(target)
      await exportCalls({ question, kind, columns: columns.value })
    } catch (error) {
      setFailure(errorText(error))
    }
  }
  return html`<${Menu} words="Export">
      <button onClick=${(event: Event) => start(event, 'jsonl')}>JSON lines</button>
      <button onClick=${(event: Event) => start(event, 'csv')}>CSV</button>
    <//>
    <${Failure} words=${failure} />`
}

interface Export {
  readonly question: CallsQueryBody
  readonly kind: ExportKind
  /** Columns of a CSV file, after the ids. */
  readonly columns: readonly Column[]
}

/** Resolves when the download begins. @throws ApiFailure */
async function exportCalls({ question, kind, columns }: Export): Promise<void> {
  const fields = ['id', 'trace_id', ...columns.flatMap(({ name, fields }) => fields ?? name)]
  const { path } = await requestJson<{ readonly path: string }>('/calls/exports', {
    ...question,
    format: kind,
    include_costs: true,
    include_feedback: true,
    ...(kind === 'csv' ? { columns: fields } : {}),
  })
  const link = document.createElement('a')
  link.href = path
  // The server names the file. The attribute keeps an error answer from navigating away from the page.
  link.download = ''
  link.click()
}
