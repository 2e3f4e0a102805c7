/** Saves the calls of the search, or the selected ones. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { errorText } from '../../api/client.ts'
import { Menu } from '../../parts/menu.ts'
import { Failure } from '../../parts/notice.ts'
import { columns } from '../columns.ts'
import { selectedQuery, type Target } from '../selection/selected-query.ts'
import { isEmpty } from '../selection/selection.ts'
import { type ExportKind, exportCalls } from './export.ts'

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
