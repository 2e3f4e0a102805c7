/** The two sides of a copy of everything but calls: rows of tables that have the same names in both stores. */
import type { MissingFiles } from './health.ts'

type CopiedValue = string | number | Buffer | readonly number[] | null
/** A row by column name. */
export type CopiedRow = Readonly<Record<string, CopiedValue>>
/** The progress of a table: the key of the last row copied. */
export type CopyPlace = readonly (string | number)[]

export interface CopiedTable {
  readonly name: string
  /** Columns that identify and order its rows. */
  readonly key: readonly string[]
}

/** All tables, each after the ones it references. Jobs and checkpoints reference each other. */
export const COPIED_TABLES: readonly CopiedTable[] = [
  { name: 'keys', key: ['id'] },
  { name: 'prices', key: ['price_key'] },
  { name: 'project_retention', key: ['project_id'] },
  { name: 'feedback', key: ['feedback_key'] },
  { name: 'json_values', key: ['value_key'] },
  { name: 'objects', key: ['object_key'] },
  { name: 'object_tags', key: ['object_key', 'tag'] },
  { name: 'object_aliases', key: ['project_id', 'object_id', 'alias'] },
  { name: 'tables', key: ['table_key'] },
  { name: 'table_blocks', key: ['table_key', 'block'] },
  { name: 'files', key: ['file_key'] },
  { name: 'file_chunks', key: ['file_key', 'chunk'] },
  { name: 'responses', key: ['id'] },
  { name: 'preview_models', key: ['id'] },
  { name: 'training_jobs', key: ['id'] },
  { name: 'checkpoints', key: ['id'] },
  { name: 'training_events', key: ['position'] },
  { name: 'blobs', key: ['path'] },
  { name: 'blob_chunks', key: ['path', 'chunk'] },
  { name: 'annotation_queues', key: ['queue_key'] },
  { name: 'annotation_items', key: ['item_key'] },
  { name: 'annotation_progress', key: ['item_key', 'annotator_user_id'] },
]

/** A store that does not change while it is open. */
export interface CopySource {
  /** Files that have rows but no bytes: they are not copied. */
  readonly missing: MissingFiles
  countRows(table: CopiedTable): number
  /** The rows after a key, in key order; null: all rows. */
  rows(table: CopiedTable, after: CopyPlace | null): AsyncIterable<CopiedRow>
  close(): void
}

/** Which rows are read: those that servers use, or those of an unfinished copy. */
export type CopyStage = 'served' | 'staged'

/** A store that is filled next to the one that servers use, and then replaces it in one step. */
export interface CopyTarget {
  /** A table in use by servers that has rows, or null. */
  findFilled(): Promise<string | null>
  /** Resumes an interrupted copy, or begins one. @returns whether there was one */
  begin(): Promise<boolean>
  /** The key of the last row written to a table. */
  findPlace(table: CopiedTable): Promise<CopyPlace | null>
  /** Writes rows together with the progress, atomically. @throws CopyError */
  write(table: CopiedTable, rows: readonly CopiedRow[]): Promise<void>
  /** Yields all rows of a table with the given columns. */
  readRows(
    stage: CopyStage,
    table: CopiedTable,
    columns: readonly string[],
    take: (row: CopiedRow) => void,
  ): Promise<void>
  /** Replaces the tables that servers use by the copied ones. @throws CopyError when those have rows */
  publish(): Promise<void>
  /** Discards the copy. */
  discard(): Promise<void>
  close(): Promise<void>
}

/** A failed copy; the message is one line. */
export class CopyError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CopyError'
  }
}
