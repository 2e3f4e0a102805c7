/** Records as Parquet. JSON columns are texts in it: readers of the type JSON would round numbers. */
import { writeFileSync } from 'node:fs'
import {
  asyncBufferFromFile,
  parquetMetadataAsync,
  parquetReadObjects,
  type SchemaElement,
} from 'hyparquet'
import { fileWriter, ParquetWriter } from 'hyparquet-writer'
import {
  type ColumnType,
  checkRecord,
  ExportFolderError,
  type ProjectRecord,
  type RecordKind,
} from './record-kinds.ts'
import type { RecordWriter } from './record-writer.ts'

/** Limits of a row group, which is held in memory: rows, and characters. */
const GROUP_ROWS = 10_000
const GROUP_CHARS = 16 * 1024 * 1024

export function createParquetWriter(path: string, kind: RecordKind): RecordWriter {
  // The library's own would be readable by everybody.
  writeFileSync(path, '', { flag: 'wx', mode: 0o600 })
  const writer = new ParquetWriter({
    writer: fileWriter(path),
    schema: toSchema(kind),
    createdBy: 'weft',
  })
  let [group, characters] = [[] as ProjectRecord[], 0]

  async function endGroup(): Promise<void> {
    const rows = group
    ;[group, characters] = [[], 0]
    if (rows.length === 0) return
    const columnData = Object.entries(kind).map(([name, type]) => ({
      name,
      data: rows.map((row) => toValue(type, row[name] ?? null)),
    }))
    await writer.write({ columnData, rowGroupSize: rows.length })
  }

  return {
    async write(records) {
      for (const record of records) {
        group.push(record)
        for (const value of Object.values(record))
          characters += typeof value === 'string' ? value.length : 0
        if (group.length === GROUP_ROWS || characters > GROUP_CHARS) await endGroup()
      }
    },
    async end() {
      await endGroup()
      await writer.finish()
    },
  }
}

function toSchema(kind: RecordKind): SchemaElement[] {
  const columns = Object.entries(kind).map(([name, type]): SchemaElement => {
    const repetition_type = type.endsWith('?') ? 'OPTIONAL' : 'REQUIRED'
    if (/^integer/.test(type)) return { name, type: 'INT64', repetition_type }
    if (!/^time/.test(type))
      return { name, type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type }
    return {
      name,
      type: 'INT64',
      converted_type: 'TIMESTAMP_MICROS',
      logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
      repetition_type,
    }
  })
  return [{ name: 'root', num_children: columns.length }, ...columns]
}

function toValue(type: ColumnType, value: string | number | null): string | bigint | null {
  return value !== null && /^(?:integer|time)/.test(type) ? BigInt(value) : (value as string | null)
}

/** @throws ExportFolderError */
export async function* readParquet(path: string, kind: RecordKind): AsyncGenerator<ProjectRecord> {
  const file = await asyncBufferFromFile(path)
  const metadata = await parquetMetadataAsync(file).catch((error: Error) => {
    throw new ExportFolderError(`${path}: is not Parquet: ${error.message}`)
  })
  let begin = 0
  for (const { num_rows } of metadata.row_groups) {
    const end = begin + Number(num_rows)
    const rows = await parquetReadObjects({
      file,
      metadata,
      rowStart: begin,
      rowEnd: end,
      parsers: PARSERS,
    })
    for (const [index, row] of rows.entries()) {
      const numbers = Object.entries(row).map(([name, value]) => [
        name,
        typeof value === 'bigint' ? Number(value) : value,
      ])
      yield checkRecord(kind, Object.fromEntries(numbers), `${path}: row ${begin + index + 1}`)
    }
    begin = end
  }
}

/** A date would lose the microseconds. */
const PARSERS = { timestampFromMicroseconds: (us: bigint) => us }
