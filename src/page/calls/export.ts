/** Saves all calls of a filter, without a limit. */
import { askLines } from '../api/client.ts'
import { type Call, type CallsQuestion, factsOf, usageOf } from '../api/wire.ts'

/** Calls of one part of the file; parts keep a text of any size out of one string. */
const PART_CALLS = 1000

const CSV_COLUMNS: readonly (readonly [string, (call: Call) => unknown])[] = [
  ['id', (call) => call.id],
  ['trace_id', (call) => call.trace_id],
  ['op_name', (call) => call.op_name],
  ['started_at', (call) => call.started_at],
  ['ended_at', (call) => call.ended_at],
  ['status', (call) => factsOf(call).status],
  ['latency_ms', (call) => factsOf(call).latency_ms],
  ['tokens', (call) => usageOf(call).tokens],
  ['cost', (call) => usageOf(call).cost],
  ['user', (call) => call.svc_username],
  ['inputs', (call) => JSON.stringify(call.inputs)],
  ['output', (call) => JSON.stringify(call.output ?? null)],
  ['exception', (call) => call.exception],
]

/** @param onProgress - called with the calls that have come */
export async function exportCalls(
  project: string,
  question: CallsQuestion,
  kind: 'jsonl' | 'csv',
  onProgress: (calls: number) => void,
): Promise<void> {
  const lineOf = kind === 'csv' ? toCsv : (call: Call) => JSON.stringify(call)
  const parts: Blob[] = []
  let lines = kind === 'csv' ? [CSV_COLUMNS.map(([name]) => name).join()] : []
  let count = 0
  const body = { ...question, include_costs: true }
  for await (const call of askLines<Call>('/calls/stream_query', body)) {
    lines.push(lineOf(call))
    count += 1
    if (count % PART_CALLS !== 0) continue
    parts.push(new Blob([lines.join('\n'), '\n']))
    lines = []
    onProgress(count)
  }
  if (lines.length > 0) parts.push(new Blob([lines.join('\n'), '\n']))
  save(new Blob(parts), `${project.replace('/', '-')}-calls.${kind}`)
}

function toCsv(call: Call): string {
  return CSV_COLUMNS.map(([, read]) => quote(read(call))).join()
}

/** A sheet takes a cell that begins with one of `= + - @` for a formula. */
function quote(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number') return String(value)
  const text = String(value)
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
