/** The two sides of a copy of everything but calls: rows of tables that have the same names in both stores. */
import type { MissingFiles } from './health.ts'

type CopiedValue = string | number | Buffer | readonly number[] | null
/** A row by column name. */
export type CopiedRow = Readonly<Record<string, CopiedValue>>
export interface CopiedTable {
  readonly name: string
  /** Columns that identify and order its rows. */
  readonly key: readonly string[]
}

/** All tables, each after the ones it references. Jobs and checkpoints reference each other. */
export const COPIED_TABLES: readonly CopiedTable[] = [
  { name: 'keys', key: ['id'] },
  { name: 'people', key: ['id'] },
  { name: 'audit_entries', key: ['id'] },
  // Not what waits: positions of calls differ between stores.
  { name: 'evaluators', key: ['id'] },
  { name: 'evaluator_versions', key: ['evaluator_id', 'version'] },
  { name: 'evaluator_days', key: ['evaluator_id', 'day'] },
  { name: 'budgets', key: ['id'] },
  { name: 'budget_spending', key: ['budget_id', 'period_start_us'] },
  { name: 'budget_leases', key: ['id'] },
  { name: 'alerts', key: ['id'] },
  { name: 'alert_events', key: ['id'] },
  { name: 'evaluation_jobs', key: ['id'] },
  { name: 'prices', key: ['price_key'] },
  { name: 'project_retention', key: ['project_id'] },
  { name: 'project_redaction', key: ['project_id'] },
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
  { name: 'served_aliases', key: ['project_id', 'name'] },
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
  /** All rows, in key order. */
  rows(table: CopiedTable): AsyncIterable<CopiedRow>
  close(): void
}

/** Empty tables that a copy fills. */
export interface CopiedTables {
  /** Writes rows of the same columns. @throws CopyError */
  write(table: CopiedTable, rows: readonly CopiedRow[]): Promise<void>
  /** Passes all rows of a table with the given columns to `take`. */
  readRows(
    table: CopiedTable,
    columns: readonly string[],
    take: (row: CopiedRow) => void,
  ): Promise<void>
}

export interface CopyTarget {
  /**
   * Fills the tables as one transaction: when it fails or is interrupted, they stay empty. Until its end, servers read
   * the empty tables and cannot write.
   *
   * @throws CopyError when a table has rows, or a server or another copy writes
   */
  fill<T>(run: (tables: CopiedTables) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** A failed copy; the message is one line. */
export class CopyError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CopyError'
  }
}
