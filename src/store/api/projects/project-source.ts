/** The contract of the source of an export. */
import type { Readable } from 'node:stream'
import type { CallTexts } from '../../../domain/calls/call-view.ts'

/** A record by column name, as `project-files/record-kinds` has them. */
export type SourceRow = Readonly<Record<string, string | number | null>>

export interface SourceFile {
  readonly digest: string
  readonly size_bytes: number
  /** Null when the bytes are missing in the data directory. Read to its end before the next file. */
  readonly content: Readable | null
}

type Rows<Row> = Iterable<Row> | AsyncIterable<Row>

/** What a project has besides calls, in one snapshot that the first read takes. One list at a time. */
export interface OtherRecords {
  feedback(): Rows<SourceRow>
  objects(): Rows<SourceRow>
  tables(): Rows<SourceRow>
  tableRows(): Rows<SourceRow>
  files(): Rows<SourceFile>
  close(): void | Promise<void>
}

/** Calls of another database are read before the snapshot of everything else: what they refer to is stored before them. */
export interface ProjectSource extends OtherRecords {
  calls(): AsyncIterable<readonly CallTexts[]>
}
