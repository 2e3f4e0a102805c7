/** Saves the calls of the filter. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { errorText } from '../api/client.ts'
import type { CallsQueryBody } from '../api/wire.ts'
import { Failure } from '../parts/notice.ts'
import { columns } from './columns.ts'
import { type ExportKind, exportCalls } from './export.ts'

export function ExportButtons({ question }: { readonly question: CallsQueryBody }) {
  const [failure, setFailure] = useState<string | null>(null)
  const start = async (kind: ExportKind) => {
    setFailure(null)
    try {
      await exportCalls({ question, kind, columns: columns.value })
    } catch (error) {
      setFailure(errorText(error))
    }
  }
  return html`<button onClick=${() => start('jsonl')}>Export JSONL</button>
    <button onClick=${() => start('csv')}>Export CSV</button>
    <${Failure} words=${failure} />`
}
