/** Reads rows from a text: JSON, JSON lines, or CSV with a header. Pure. */
import { parseExact } from '../api/exact-json.ts'
import { membersOf } from '../api/wire.ts'

/** Limit: characters of the text. */
const CHARS_MAX = 10_000_000

/** @throws Error that says which line or row is none */
export function readPastedRows(text: string): readonly object[] {
  const trimmed = text.trim()
  if (trimmed === '') return []
  if (trimmed.length > CHARS_MAX) throw new Error('The text is longer than 10 million characters.')
  if (trimmed.startsWith('[')) return readList(trimmed)
  return trimmed.startsWith('{') ? readObjects(trimmed) : readCsv(text)
}

function readList(text: string): readonly object[] {
  const rows = parseJson(text, 'The text')
  return (Array.isArray(rows) ? rows : []).map((row, at) => requireRow(row, `Row ${at + 1}`))
}

/** One object over several lines, or one in each line. */
function readObjects(text: string): readonly object[] {
  const lines = text.split(/\r?\n/)
  try {
    if (lines.length > 1) return [requireRow(parseExact(text), 'The text')]
  } catch {
    // It is not one object.
  }
  return lines.flatMap((line, at) => {
    const name = `Line ${at + 1}`
    return line.trim() === '' ? [] : [requireRow(parseJson(line, name), name)]
  })
}

function parseJson(text: string, name: string): unknown {
  try {
    return parseExact(text)
  } catch {
    throw new Error(`${name} is not valid JSON.`)
  }
}

function requireRow(value: unknown, name: string): object {
  if (membersOf(value) !== value) throw new Error(`${name} is not a JSON object.`)
  return value as object
}

/** The cells are texts; the separator is that of the header, outside quotation marks: a tab, as spreadsheets copy, a comma or a semicolon. */
function readCsv(text: string): readonly object[] {
  const [header = ''] = text.split(/\r?\n/, 1)
  const unquoted = header.replace(/"[^"]*"/g, '')
  const separator = ['\t', ',', ';'].find((each) => unquoted.includes(each)) ?? ','
  const [names = [], ...lines] = readCells(text, separator)
  const trimmed = names.map((name) => name.trim())
  if (trimmed.some((name) => name === ''))
    throw new Error('The first line must be a header in which each column has a name.')
  if (new Set(trimmed).size < trimmed.length)
    throw new Error('Two columns of the header have the same name.')
  return lines
    .filter((cells) => cells.some((cell) => cell !== ''))
    .map((cells, at) => {
      if (cells.length > trimmed.length)
        throw new Error(`Row ${at + 1} has ${cells.length} cells, the header ${trimmed.length}.`)
      return Object.fromEntries(trimmed.map((name, column) => [name, cells[column] ?? '']))
    })
}

/** The cells of each line (RFC 4180): a quoted cell may hold separators, ends of lines and doubled quotes. */
function readCells(text: string, separator: string): string[][] {
  const cell = new RegExp(
    `("[^"]*(?:""[^"]*)*"?|[^${separator}\\r\\n]*)(${separator}|\\r?\\n|\\r|$)`,
    'gy',
  )
  const lines: string[][] = [[]]
  for (const [found, content = '', end] of text.replace(/^\ufeff/, '').matchAll(cell)) {
    if (found === '' && lines.at(-1)?.length === 0) break
    const isQuoted = content.startsWith('"')
    if (isQuoted && !/^"(?:[^"]|"")*"$/.test(content))
      throw new Error(`A quotation mark of line ${lines.length} is not closed.`)
    lines.at(-1)?.push(isQuoted ? content.slice(1, -1).replaceAll('""', '"') : content)
    if (end === '') break
    if (end !== separator) lines.push([])
  }
  return lines
}
