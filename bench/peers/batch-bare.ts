/** The baseline of bench/batch.ts: the same rows through better-sqlite3 alone, one fsynced commit a batch. */
import { createNameKeys, packId } from '../../src/store/sqlite/calls/columns/id-columns.ts'
import { openDatabase } from '../../src/store/sqlite/db/connection.ts'
import { migrate } from '../../src/store/sqlite/db/migrate.ts'
import type { BenchCall } from './batch-rows.ts'

const INSERT_CALL = `
INSERT INTO calls (
  project_key, id, trace_id, op_key, started_at_us, ended_at_us, svc_user_id, svc_username,
  storage_size_bytes
)
VALUES (
  @project_key, @packed_id, @packed_id, @op_key, @started_at_us, @ended_at_us, 'bootstrap', 'bootstrap',
  @storage_size_bytes
)`
const INSERT_BODIES = `
INSERT INTO call_bodies (call_key, attributes_json, inputs_json, output_json, summary_json)
VALUES (@call_key, @attributes_json, @inputs_json, @output_json, @summary_json)`
const INSERT_USAGE = `
INSERT INTO call_usage (
  call_key, model, input_tokens, uncached_input_tokens, output_tokens, total_tokens,
  cache_read_input_tokens, cache_creation_input_tokens
)
VALUES (@call_key, @model, @input_tokens, @input_tokens, @output_tokens, @total_tokens, 0, 0)`

/** Opens a database like the server's: same schema, same pragmas. */
export function openBare(dataDir: string) {
  const db = openDatabase(dataDir)
  migrate(db)
  const insertCall = db.prepare(INSERT_CALL)
  const keys = createNameKeys(db, { join() {} })
  const insertBodies = db.prepare(INSERT_BODIES)
  const insertUsage = db.prepare(INSERT_USAGE)
  const insertBatch = db.transaction((calls: readonly BenchCall[]) => {
    for (const { row } of calls) {
      const { project_id, id, op_name } = row as Record<string, string>
      const packed = {
        project_key: keys.projectKey(String(project_id)),
        packed_id: packId(String(id)),
        op_key: keys.opKey(String(op_name)),
      }
      const call_key = insertCall.run({ ...row, ...packed }).lastInsertRowid
      insertBodies.run({ ...row, call_key })
      insertUsage.run({ ...row, call_key })
    }
  })
  return {
    insertBatch: (calls: readonly BenchCall[]) => insertBatch.immediate(calls),
    close: () => db.close(),
  }
}
