/** Saves the calls of the filter, and tells how far it is. */
import { html } from 'htm/preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { wordsOf } from '../api/client.ts'
import type { CallsQuestion } from '../api/wire.ts'
import { formatCount } from '../parts/format.ts'
import { columns } from './columns.ts'
import { type ExportKind, exportCalls } from './export.ts'

interface ExportButtonsProps {
  readonly project: string
  readonly question: CallsQuestion
}

export function ExportButtons({ project, question }: ExportButtonsProps) {
  const [told, tell] = useState<string | null>(null)
  const running = useRef<AbortController | null>(null)
  const [isRunning, setRunning] = useState(false)
  useEffect(() => () => running.current?.abort(), [])
  const start = async (kind: ExportKind) => {
    const abort = new AbortController()
    running.current = abort
    const { signal } = abort
    const onProgress = (calls: number) => tell(`${formatCount(calls)} calls …`)
    setRunning(true)
    onProgress(0)
    try {
      await exportCalls({ project, question, kind, columns: columns.value, signal, onProgress })
      tell(null)
    } catch (error) {
      tell(wordsOf(error))
    }
    setRunning(false)
  }
  return html`<span role="status" class="faint">${told}</span>
    ${
      isRunning
        ? html`<button onClick=${() => running.current?.abort()}>Stop the export</button>`
        : html`<button onClick=${() => start('jsonl')}>Export JSONL</button>
            <button onClick=${() => start('csv')}>Export CSV</button>`
    }`
}
