/** Saves the calls of the search, or the selected ones. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { errorText } from '../../api/client.ts'
import { Failure } from '../../parts/notice.ts'
import { columns } from '../columns.ts'
import { selectedQuery, type Target } from '../selection/selected-query.ts'
import { isEmpty } from '../selection/selection.ts'
import { type ExportKind, exportCalls } from './export.ts'

export function ExportButtons({ target }: { readonly target: Target }) {
  const [failure, setFailure] = useState<string | null>(null)
  const start = async (kind: ExportKind) => {
    setFailure(null)
    try {
      const question = isEmpty(target.selection) ? target.question : selectedQuery(target)
      await exportCalls({ question, kind, columns: columns.value })
    } catch (error) {
      setFailure(errorText(error))
    }
  }
  return html`<button onClick=${() => start('jsonl')}>Export JSONL</button>
    <button onClick=${() => start('csv')}>Export CSV</button>
    <${Failure} words=${failure} />`
}
