/** Writes calls as CSV. Pure. */
import { isObject } from '../json/is-object.ts'
import { parseLossless, renderJson } from '../json/json-text.ts'
import { parsePath } from '../query/query-expression.ts'
import { valueAt } from '../query/query-values.ts'
import { readUsage } from '../usage/usage.ts'
import { identifyReporter } from '../usage/usage-reporter.ts'
import { SHOWN_FIELDS } from './calls-query.ts'

type Call = Readonly<Record<string, unknown>>

/** Columns that are not fields of a call, or that are nested in its summary. */
const NAMED: Readonly<Record<string, (call: Call) => unknown>> = {
  status: (call) => valueAt(call, ['summary', 'weave', 'status']),
  latency_ms: (call) => valueAt(call, ['summary', 'weave', 'latency_ms']),
  total_cost: (call) => valueAt(call, ['summary', 'weave', 'total_cost']),
  feedback: (call) => valueAt(call, ['summary', 'weave', 'feedback']),
  models: ({ summary }) =>
    readUsage(summary)
      .map(({ model }) => model)
      .join(', '),
  total_tokens({ summary, attributes }) {
    const usage = readUsage(summary, identifyReporter(attributes))
    return usage.length === 0 ? null : usage.reduce((sum, one) => sum + one.total_tokens, 0)
  },
}

const KNOWN: ReadonlySet<string> = new Set([...SHOWN_FIELDS, ...Object.keys(NAMED)])

interface CsvColumn {
  readonly name: string
  readonly read: (call: Call) => unknown
}

/** @throws ApiError query_invalid for a column that calls have not; param is the place */
export function resolveCsvColumns(names: readonly string[]): CsvColumn[] {
  return names.map((name, at) => {
    const path = parsePath(name, KNOWN, `columns[${at}]`)
    const named = path.length === 1 ? NAMED[name] : undefined
    return { name, read: named ?? ((call) => valueAt(call, path)) }
  })
}

/** The fields of calls that must be read for columns. */
export function fieldsOfCsv(names: readonly string[]): string[] {
  const fields = names.map((name) => (Object.hasOwn(NAMED, name) ? 'summary' : name))
  return names.includes('total_tokens') ? [...fields, 'attributes'] : fields
}

export function renderCsvHead(columns: readonly CsvColumn[]): string {
  return renderRow(columns.map(({ name }) => name))
}

/** A row for each line of JSON. */
export function renderCsvRows(lines: string, columns: readonly CsvColumn[]): string {
  return lines
    .trimEnd()
    .split('\n')
    .map((line) => {
      const call = parseLossless(line) as Call
      return renderRow(columns.map(({ read }) => read(call)))
    })
    .join('')
}

/** Renders a row by RFC 4180. The empty cell of a table of one column is quoted, as readers skip empty lines. */
function renderRow(values: readonly unknown[]): string {
  return `${values.map(renderCell).join() || '""'}\r\n`
}

/** A sheet takes a text that begins with one of `= + - @` for a formula; numbers are numbers to it. */
function renderCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number' || (isObject(value) && JSON.isRawJSON(value))) {
    return renderJson(value)
  }
  const text = typeof value === 'string' ? value : renderJson(value)
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
