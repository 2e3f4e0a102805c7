/** Saves the calls of the filter. */
import { html } from 'htm/preact'
import { useState } from 'preact/hooks'
import { wordsOf } from '../api/client.ts'
import type { CallsQuestion } from '../api/wire.ts'
import { Failure } from '../parts/notice.ts'
import { columns } from './columns.ts'
import { type ExportKind, exportCalls } from './export.ts'

export function ExportButtons({ question }: { readonly question: CallsQuestion }) {
  const [failure, setFailure] = useState<string | null>(null)
  const start = async (kind: ExportKind) => {
    setFailure(null)
    try {
      await exportCalls({ question, kind, columns: columns.value })
    } catch (error) {
      setFailure(wordsOf(error))
    }
  }
  return html`<button onClick=${() => start('jsonl')}>Export JSONL</button>
    <button onClick=${() => start('csv')}>Export CSV</button>
    <${Failure} words=${failure} />`
}
