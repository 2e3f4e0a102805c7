/**
 * Child process of bench/stats.ts: ClickHouse's engine over the same calls, without their bodies. Loads a
 * database file of Weft once. Each message is a list of statements, and the reply is the time that they took.
 */

import { once } from 'node:events'
import { createWriteStream, existsSync, renameSync, rmSync } from 'node:fs'
import { idText } from '../../src/store/sqlite/calls/columns/id-columns.sql.ts'
import { openReadOnlyDatabase } from '../../src/store/sqlite/db/connection.ts'
import { importTool } from '../tools/find-tool.ts'

/** From the parent: statements to run one after the other. */
export type ChdbRequest = readonly string[]
/** To the parent: first once when the rows are there, then for each request. */
export interface ChdbReply {
  readonly ms: number
  readonly rows: number
}

const [databaseFile = '', directory = ''] = process.argv.slice(2)
const LINES_PER_WRITE = 5000

/** One call as a line of tab separated values. */
const SELECT_LINES = `
SELECT concat_ws(char(9),
  project_id, ${idText('id')}, ${idText('trace_id')}, parent_id IS NULL,
  coalesce(${idText('thread_id')}, ''), op_name,
  started_at_us / 1000000 || printf('.%06d', started_at_us % 1000000),
  coalesce(max(0, (ended_at_us - started_at_us) / 1000), '\\N'), exception IS NOT NULL,
  svc_user_id, coalesce(svc_run_id, ''), coalesce(model, ''), coalesce(input_tokens, 0),
  coalesce(output_tokens, 0), coalesce(total_tokens, 0)) || char(10)
FROM calls
JOIN projects USING (project_key)
JOIN ops USING (op_key)
LEFT JOIN call_usage ON call_usage.call_key = calls.call_key`

const COLUMNS = `
project_id LowCardinality(String), id String, trace_id String, is_root UInt8, thread_id String,
op_name LowCardinality(String), started_at DateTime64(6, 'UTC'), latency_ms Nullable(UInt64),
is_error UInt8, user_id LowCardinality(String), run_id LowCardinality(String),
model LowCardinality(String), input_tokens UInt64, output_tokens UInt64, total_tokens UInt64`

interface Session {
  query(sql: string, format?: string): string
}

async function writeLines(path: string): Promise<void> {
  const db = openReadOnlyDatabase(databaseFile)
  const output = createWriteStream(path)
  let lines: string[] = []
  for (const line of db.prepare(SELECT_LINES).pluck().iterate()) {
    lines.push(line as string)
    if (lines.length < LINES_PER_WRITE) continue
    if (!output.write(lines.join(''))) await once(output, 'drain')
    lines = []
  }
  output.end(lines.join(''))
  await once(output, 'finish')
  db.close()
}

async function openSession(): Promise<Session> {
  const chdb = await importTool('chdb')
  const unfinished = `${directory}.unfinished`
  if (!existsSync(directory)) {
    rmSync(unfinished, { recursive: true, force: true })
    const lines = `${directory}.tsv`
    await writeLines(lines)
    const loading: Session & { close(): void } = new chdb.Session(unfinished)
    loading.query('CREATE DATABASE IF NOT EXISTS bench')
    loading.query(`
CREATE TABLE bench.calls (${COLUMNS}) ENGINE = MergeTree
PARTITION BY toYYYYMM(started_at) ORDER BY (project_id, started_at)`)
    const columns = COLUMNS.replaceAll("'", "\\'")
    loading.query(
      `INSERT INTO bench.calls SELECT * FROM file('${lines}', 'TabSeparated', '${columns}')`,
    )
    loading.query('OPTIMIZE TABLE bench.calls FINAL')
    loading.close()
    rmSync(lines)
    renameSync(unfinished, directory)
  }
  const session: Session = new chdb.Session(directory)
  session.query('USE bench')
  // Otherwise a repeated query would partly be answered from a cache.
  session.query('SET use_query_condition_cache = 0')
  return session
}

const begin = performance.now()
const session = await openSession()
const rows = Number(session.query('SELECT count() FROM bench.calls', 'TabSeparated'))
const loaded: ChdbReply = { ms: performance.now() - begin, rows }
process.send?.(loaded)
process.on('message', (statements: ChdbRequest) => {
  const start = performance.now()
  let answered = 0
  for (const statement of statements) {
    answered += session.query(statement, 'JSONCompactEachRow').split('\n').length - 1
  }
  const reply: ChdbReply = { ms: performance.now() - start, rows: answered }
  process.send?.(reply)
})
process.on('disconnect', () => process.exit())
