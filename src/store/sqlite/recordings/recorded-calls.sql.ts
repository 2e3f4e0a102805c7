/** What is written of calls that the server records: whole ones, of which nothing is stored yet. */
import { textOfBytes } from '../db/rows.sql.ts'

/** Columns of `calls`, in the order of the parameters; all others are null. */
export const RECORDED_CALL_COLUMNS = [
  'call_key',
  'project_id',
  'id',
  'trace_id',
  'op_name',
  'started_at_us',
  'ended_at_us',
  'exception',
  'svc_user_id',
  'svc_username',
  'storage_size_bytes',
] as const

/** Columns of `call_bodies`, the same way: only inputs and output, which come as UTF-8, are ever long. */
export const RECORDED_BODY_COLUMNS = [
  'call_key',
  'attributes_json',
  textOfBytes('inputs_json'),
  'inputs_zstd',
  textOfBytes('output_json'),
  'output_zstd',
  'summary_json',
] as const

/** The key of the next call; asked for inside of the transaction that takes it. */
export const NEXT_CALL_KEY = `
SELECT coalesce(max(call_key), 0) + 1
FROM calls
`
