/** Records as JSON lines. JSON columns stand in them as they are stored, so that no digit is lost. */
import { createReadStream } from 'node:fs'
import { appendFile, writeFile } from 'node:fs/promises'
import { splitMembers } from '../domain/json/json-members.ts'
import { parseTimestampUs, renderTimestamp } from '../schemas/timestamp.ts'
import {
  type ColumnType,
  checkRecord,
  ExportFolderError,
  type ProjectRecord,
  type RecordKind,
} from './record-kinds.ts'
import type { RecordWriter } from './record-writer.ts'

export async function createJsonlWriter(path: string, kind: RecordKind): Promise<RecordWriter> {
  await writeFile(path, '', { flag: 'wx', mode: 0o600 })
  // The file is closed after each write, so that an export that fails leaves none open.
  return {
    async write(records) {
      const lines = records.map((record) => `${renderLine(kind, record)}\n`)
      await appendFile(path, lines.join(''))
    },
    end: () => appendFile(path, '', { flush: true }),
  }
}

function renderLine(kind: RecordKind, record: ProjectRecord): string {
  const members = Object.entries(kind).flatMap(([name, type]) => {
    const value = record[name] ?? null
    return value === null ? [] : [`"${name}":${renderValue(type, value)}`]
  })
  return `{${members.join(',')}}`
}

function renderValue(type: ColumnType, value: string | number): string {
  if (/^time/.test(type)) return JSON.stringify(renderTimestamp(Number(value)))
  // Between the tokens of a stored text there may be line breaks; inside of its strings there is none.
  return /^json/.test(type) ? String(value).replaceAll(/[\r\n]/g, ' ') : JSON.stringify(value)
}

/** @throws ExportFolderError */
export async function* readJsonl(path: string, kind: RecordKind): AsyncGenerator<ProjectRecord> {
  let number = 0
  for await (const line of splitLines(path)) {
    number += 1
    yield parseLine(line, kind, `${path}:${number}`)
  }
}

/** Splits at line feeds alone: strings of JSON may hold other separators of lines. */
async function* splitLines(path: string): AsyncGenerator<string> {
  let rest: string[] = []
  for await (const chunk of createReadStream(path, { encoding: 'utf8' })) {
    const [first = '', ...lines] = String(chunk).split('\n')
    rest.push(first)
    for (const next of lines) {
      yield rest.join('')
      rest = [next]
    }
  }
  const last = rest.join('')
  if (last !== '') yield last
}

function parseLine(line: string, kind: RecordKind, position: string): ProjectRecord {
  const values = parseObject(line, position)
  const texts = splitMembers(line)
  const record = Object.entries(values).map(([name, value]) => {
    const type = kind[name] ?? 'text'
    if (/^json/.test(type)) return [name, texts.get(name)]
    return [name, /^time/.test(type) ? parseTimestampUs(String(value)) : value]
  })
  return checkRecord(kind, Object.fromEntries(record), position)
}

function parseObject(line: string, position: string): object {
  try {
    const value: unknown = JSON.parse(line)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // The same error as for another value.
  }
  throw new ExportFolderError(`${position}: is not a JSON object`)
}
