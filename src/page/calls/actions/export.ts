/** Saves all calls of a filter, without a limit: the browser itself downloads them, straight to the disk. */
import { requestJson } from '../../api/client.ts'
import type { CallsQueryBody } from '../../api/wire.ts'
import type { Column } from '../columns.ts'

export type ExportKind = 'jsonl' | 'csv'

interface Export {
  readonly question: CallsQueryBody
  readonly kind: ExportKind
  /** Columns of a CSV file, after the ids. */
  readonly columns: readonly Column[]
}

/** Resolves when the download begins. @throws ApiFailure */
export async function exportCalls({ question, kind, columns }: Export): Promise<void> {
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
