/** What an export of a project holds: its kinds of records, one file each, with the columns of both formats. */

/** `time` is microseconds since the epoch, `json` the text of a value. With `?` the column may be null. */
export type ColumnType =
  | 'text'
  | 'text?'
  | 'integer'
  | 'integer?'
  | 'time'
  | 'time?'
  | 'json'
  | 'json?'

export type RecordKind = Readonly<Record<string, ColumnType>>

/** A record by column name. */
export type ProjectRecord = Readonly<Record<string, string | number | null>>

/** In the order in which they are imported: calls refer to objects, and objects to tables and files. */
export const RECORD_KINDS = {
  /** Uploaded files, whose bytes are files of the folder. */
  files: { digest: 'text', size_bytes: 'integer', path: 'text' },
  /** Rows of tables, those of a table together and in order; tables by digest. */
  table_rows: { table_digest: 'text', original_index: 'integer', digest: 'text', val: 'json' },
  tables: { digest: 'text', row_count: 'integer' },
  /** Versions of objects, in the order of their creation, with deleted ones. */
  objects: {
    object_id: 'text',
    digest: 'text',
    version_index: 'integer',
    kind: 'text',
    base_object_class: 'text?',
    leaf_object_class: 'text?',
    svc_user_id: 'text',
    created_at: 'time',
    deleted_at: 'time?',
    tags: 'json',
    aliases: 'json',
    val: 'json',
  },
  feedback: {
    id: 'text',
    weave_ref: 'text',
    feedback_type: 'text',
    creator: 'text?',
    annotation_ref: 'text?',
    runnable_ref: 'text?',
    call_ref: 'text?',
    trigger_ref: 'text?',
    queue_id: 'text?',
    svc_user_id: 'text',
    created_at: 'time',
    payload: 'json',
    scores: 'json?',
  },
  /** Calls whose start has arrived, without deleted ones. */
  calls: {
    id: 'text',
    trace_id: 'text',
    parent_id: 'text?',
    thread_id: 'text?',
    turn_id: 'text?',
    op_name: 'text',
    display_name: 'text?',
    started_at: 'time',
    ended_at: 'time?',
    exception: 'text?',
    svc_user_id: 'text?',
    svc_username: 'text?',
    end_user_id: 'text?',
    svc_run_id: 'text?',
    svc_run_step: 'integer?',
    svc_run_step_end: 'integer?',
    attributes: 'json?',
    inputs: 'json?',
    output: 'json?',
    summary: 'json?',
    otel_dump: 'json?',
  },
} as const satisfies Readonly<Record<string, RecordKind>>

export type RecordKindName = keyof typeof RECORD_KINDS
export const RECORD_KIND_NAMES = Object.keys(RECORD_KINDS) as RecordKindName[]

export const EXPORT_FORMATS = ['jsonl', 'parquet'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** A folder that cannot be imported; the message is one line. */
export class ExportFolderError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ExportFolderError'
  }
}

/**
 * Checks a record that was read.
 *
 * @param position - names the record in errors
 * @throws ExportFolderError
 */
export function checkRecord(
  kind: RecordKind,
  record: Readonly<Record<string, unknown>>,
  position: string,
): ProjectRecord {
  const unknown = Object.keys(record).find((name) => !Object.hasOwn(kind, name))
  if (unknown !== undefined) throw new ExportFolderError(`${position}: ${unknown} is not a column`)
  return Object.fromEntries(
    Object.entries(kind).map(([name, type]) => {
      const value = record[name] ?? null
      const fault = findFault(type, value)
      if (fault !== null) throw new ExportFolderError(`${position}: ${name} ${fault}`)
      return [name, value as string | number | null]
    }),
  )
}

function findFault(type: ColumnType, value: unknown): string | null {
  if (value === null) return type.endsWith('?') ? null : 'is missing'
  if (/^text/.test(type)) return typeof value === 'string' ? null : 'must be a text'
  if (/^json/.test(type)) return isJson(value) ? null : 'must be JSON'
  return Number.isSafeInteger(value) ? null : `must be a ${type.replace('?', '')}`
}

function isJson(value: unknown): boolean {
  if (typeof value !== 'string') return false
  try {
    JSON.parse(value)
    return true
  } catch {
    return false
  }
}
