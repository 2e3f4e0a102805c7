/** Saves all calls of a filter, without a limit, as they come. */
import { askLineTexts } from '../api/client.ts'
import { isExactNumber, parseExact, textOf } from '../api/exact-json.ts'
import type { Call, CallsQuestion } from '../api/wire.ts'
import type { Column } from './columns.ts'

/** Calls of one part of the file; parts keep a text of any size out of one string. */
const PART_CALLS = 1000

export type ExportKind = 'jsonl' | 'csv'

interface Export {
  readonly project: string
  readonly question: CallsQuestion
  readonly kind: ExportKind
  /** Of a CSV file, behind the ids. */
  readonly columns: readonly Column[]
  readonly signal: AbortSignal
  /** Called with the calls that have come. */
  readonly onProgress: (calls: number) => void
}

export async function exportCalls(wanted: Export): Promise<void> {
  const { project, question, kind, columns, signal, onProgress } = wanted
  const header = ['id', 'trace_id', ...columns.map(({ name }) => name)].map(quote).join()
  const parts: Blob[] = kind === 'csv' ? [new Blob([header, '\r\n'])] : []
  const body = { ...question, include_costs: true, include_feedback: true }
  let lines: string[] = []
  let count = 0
  const cut = () => {
    parts.push(new Blob(lines))
    lines = []
    onProgress(count)
  }
  for await (const line of askLineTexts('/calls/stream_query', body, { signal })) {
    // Lines go through as they are, so that no number of theirs is rounded.
    lines.push(kind === 'csv' ? toCsv(parseExact<Call>(line), columns) : `${line}\n`)
    count += 1
    if (count % PART_CALLS === 0) cut()
  }
  cut()
  save(new Blob(parts), `${project.replace('/', '-')}-calls.${kind}`)
}

function toCsv(call: Call, columns: readonly Column[]): string {
  const values = [call.id, call.trace_id, ...columns.map((column) => column.read(call))]
  return `${values.map(quote).join()}\r\n`
}

/** A sheet takes a cell that begins with one of `= + - @` for a formula. */
function quote(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = textOf(value)
  if (typeof value === 'number' || isExactNumber(value)) return text
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

function save(content: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
