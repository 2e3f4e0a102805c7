/** What a copy of all that is no call goes between: rows by tables that both stores have under the same names. */
import type { MissingFiles } from './health.ts'

type CopiedValue = string | number | Buffer | readonly number[] | null
/** A row by the names of its columns. */
export type CopiedRow = Readonly<Record<string, CopiedValue>>
/** Where a copy of a table is: the key of the last row. */
export type CopyPlace = readonly (string | number)[]

export interface CopiedTable {
  readonly name: string
  /** Columns that tell its rows apart and order them. */
  readonly key: readonly string[]
}

/** All of them, each behind those that it refers to. Jobs and checkpoints refer to each other. */
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

/** A store that nothing changes while it is open. */
export interface CopySource {
  /** Files whose rows are there and whose bytes are gone: they are left out. */
  readonly missing: MissingFiles
  countRows(table: CopiedTable): number
  /** The rows behind a place, in the order of their keys; null: all of them. */
  rows(table: CopiedTable, after: CopyPlace | null): AsyncIterable<CopiedRow>
  close(): void
}

/** Where rows are read: those that servers have, or those of a copy that has not ended. */
export type CopyStage = 'served' | 'staged'

/** A store that is filled beside the one that servers have, and takes its place at once. */
export interface CopyTarget {
  /** A table that servers have and that holds rows, or null. */
  findFilled(): Promise<string | null>
  /** Goes on with a copy that was cut off, or begins one. @returns whether there was one */
  begin(): Promise<boolean>
  /** The last row of a table that was written. */
  findPlace(table: CopiedTable): Promise<CopyPlace | null>
  /** Writes rows and how far the copy is, both or nothing. @throws CopyError */
  write(table: CopiedTable, rows: readonly CopiedRow[]): Promise<void>
  /** Tells all rows of a table, by the columns that are named. */
  readRows(
    stage: CopyStage,
    table: CopiedTable,
    columns: readonly string[],
    take: (row: CopiedRow) => void,
  ): Promise<void>
  /** Puts what was copied in the place of what servers have. @throws CopyError when that holds rows */
  publish(): Promise<void>
  /** Throws away what was copied. */
  discard(): Promise<void>
  close(): Promise<void>
}

/** A copy that cannot be made; the message is one line. */
export class CopyError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CopyError'
  }
}
