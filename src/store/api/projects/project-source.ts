/** The contract of the source of an export: a project in one snapshot. */
import type { Readable } from 'node:stream'
import type { CallTexts } from '../../../domain/calls/call-view.ts'

/** A record by column name, as `project-files/record-kinds` has them. */
export type SourceRow = Readonly<Record<string, string | number | null>>

export interface SourceFile {
  readonly digest: string
  readonly size_bytes: number
  /** Null when the bytes are missing in the data directory. */
  readonly content: Readable | null
}

export interface ProjectSource {
  feedback(): Iterable<SourceRow>
  objects(): Iterable<SourceRow>
  tables(): Iterable<SourceRow>
  tableRows(): Iterable<SourceRow>
  files(): Iterable<SourceFile>
  calls(): AsyncIterable<readonly CallTexts[]>
  close(): void
}
