/**
 * Fills stores with narrow calls (bench/servers/trace-calls.ts) far faster than by writes: the first period of them is
 * written, and copied by statements with other ids and times. `npm run bench -- growth --check` compares with writes.
 */
import { createClient } from '@clickhouse/client'
import { openDatabase } from '../../src/store/sqlite/db/connection.ts'
import {
  FIRST_US,
  idOf,
  PERIOD_CALLS,
  project_id,
  RANGE_US,
  TRACE_CALLS,
} from '../servers/trace-calls.ts'

const ID_START = idOf(0).slice(0, 24)
const HOUR_US = 3600e6
/** Periods of one statement, and the threads that write parts of it. */
const SLICE_PERIODS = 44
const THREADS = 4
const STATEMENT_MS_MAX = 3_600_000

/** Copies the calls of a closed store until it has so many. Their numbers are their keys less one. */
export function fillSqlite(dataDir: string, calls: number): void {
  const db = openDatabase(dataDir)
  try {
    // A crash loses nothing that cannot be made again.
    db.pragma('synchronous = OFF')
    db.pragma('wal_autocheckpoint = 20000')
    db.pragma('foreign_keys = OFF')
    db.pragma('cache_size = -262144')
    const at = 'call_key - 1 + @shift'
    const packed = (number: string) =>
      `unhex('${ID_START.replaceAll('-', '')}' || printf('%012d', ${number}))`
    const root = packed(`${at} - (call_key - 1) % ${TRACE_CALLS}`)
    const started = `${FIRST_US} + (${at}) * ${RANGE_US / calls} / 1000 * 1000`
    const own: Readonly<Record<string, string>> = {
      call_key: 'call_key + @shift',
      id: packed(at),
      trace_id: root,
      parent_id: `iif(parent_id IS NULL, NULL, ${root})`,
      started_at_us: started,
      ended_at_us: `${started} + ended_at_us - started_at_us`,
    }
    const copies = ['calls', 'call_bodies', 'call_usage'].map((table) => {
      const columns = db.prepare(`SELECT name FROM pragma_table_info('${table}')`).pluck().all()
      const names = columns as string[]
      const copied = names.map((name) => (table === 'calls' ? own[name] : null) ?? name)
      if (table !== 'calls') copied[names.indexOf('call_key')] = 'call_key + @shift'
      return db.prepare(`
INSERT INTO ${table} (${names.join(', ')})
SELECT ${copied.join(', ')} FROM ${table}
WHERE call_key <= min(${PERIOD_CALLS}, @calls - @shift)
ORDER BY call_key`)
    })
    const copy = db.transaction((shift: number) => {
      for (const statement of copies) statement.run({ shift, calls })
    })
    for (let shift = PERIOD_CALLS; shift < calls; shift += PERIOD_CALLS) copy(shift)
    db.prepare(MARK_HOURS).run({ project_id, from: FIRST_US / HOUR_US, hours: RANGE_US / HOUR_US })
    db.pragma('wal_checkpoint(TRUNCATE)')
  } finally {
    db.close()
  }
}

/** All hours have calls that no segment holds. */
const MARK_HOURS = `
WITH RECURSIVE hours (hour) AS (
  SELECT @from UNION ALL SELECT hour + 1 FROM hours WHERE hour + 1 < @from + @hours
)
INSERT INTO stats_hours (project_id, hour, built_revision) SELECT @project_id, hour, NULL FROM hours
WHERE true
ON CONFLICT (project_id, hour) DO UPDATE SET
  generation = generation + 1,
  built_revision = NULL`

const COPY_ID = (at: string) => `concat('${ID_START}', leftPad(toString(${at}), 12, '0'))`
const JSON_ID = (id: string) => `if(isNull(${id}), 'null', concat('"', assumeNotNull(${id}), '"'))`
const HASH = (values: readonly string[]) =>
  `base64Encode(SHA256(concat('[', ${values.join(", ',', ")}, ']')))`
/** The mark of a report below another call, see nested-reports.ts. */
const MARK = (id: string, parent: string) =>
  `reinterpretAsUInt64(reverse(substring(SHA256(concat('["', ${id}, '","', ${parent}, '"]')), 1, 8)))`

/** Copies of the rows of `growth_period`. */
function copyCalls(calls: number, fromCopy: number, endCopy: number): string {
  const began = (at: string) => `${FIRST_US} + intDiv(${at} * ${RANGE_US / calls}, 1000) * 1000`
  return `
INSERT INTO calls
WITH
  at + copy * ${PERIOD_CALLS} AS new_at,
  ${began('new_at')} AS new_start,
  new_start + assumeNotNull(latency_ms) * 1000 AS new_end,
  ${COPY_ID('new_at')} AS new_id,
  ${COPY_ID(`new_at - at % ${TRACE_CALLS}`)} AS new_root
SELECT * EXCEPT (at, copy) REPLACE (
  new_start AS started_at_us,
  new_end AS ended_at_us,
  new_id AS id,
  new_root AS trace_id,
  if(at % ${TRACE_CALLS} = 0, NULL, new_root) AS parent_id,
  now64(6) AS stored_at,
  ${HASH([
    JSON_ID(`if(at % ${TRACE_CALLS} = 0, NULL, new_root)`),
    "'null,null'",
    'toJSONString(toString(op_name))',
    'toString(new_start)',
    "'null,null'",
    "toJSONString(ifNull(attributes_json, ''))",
    "toJSONString(ifNull(inputs_json, '')), ',null'",
  ])} AS start_hash,
  ${HASH([
    'toString(new_end)',
    "if(isNull(exception), 'null', toJSONString(assumeNotNull(exception)))",
    "'null'",
    "toJSONString(ifNull(output_json, ''))",
    "toJSONString(ifNull(summary_json, ''))",
  ])} AS end_hash,
  if(report_mark = 0, 0, ${MARK('new_id', 'new_root')}) AS report_mark,
  if(nested_mark = 0, 0, arraySum(
    one -> if((at + one) % 3 = 0, ${MARK(COPY_ID('(new_at + one)'), 'new_id')}, 0),
    range(1, ${TRACE_CALLS})
  )) AS nested_mark
)
FROM growth_period
CROSS JOIN (SELECT toInt64(number) AS copy FROM numbers(${fromCopy}, ${endCopy - fromCopy})) AS copies
WHERE new_at < ${calls}
SETTINGS max_threads = ${THREADS}, max_insert_threads = ${THREADS},
  min_insert_block_size_rows = ${SLICE_PERIODS * PERIOD_CALLS}, min_insert_block_size_bytes = 0,
  optimize_on_insert = 0, insert_deduplicate = 0`
}

/** Copies the calls of a store until it has so many. Nothing may write into it meanwhile. */
export async function fillClickHouse(url: string, calls: number): Promise<void> {
  const client = createClient({ url, request_timeout: STATEMENT_MS_MAX })
  const run = async (query: string) => void (await client.command({ query }))
  try {
    await run(`
CREATE TABLE growth_period ENGINE = Memory AS
SELECT toInt64(substring(id, 25)) AS at, * FROM calls`)
    const copies = Math.ceil(calls / PERIOD_CALLS)
    for (let copy = 1; copy < copies; copy += SLICE_PERIODS) {
      await run(copyCalls(calls, copy, Math.min(copy + SLICE_PERIODS, copies)))
    }
    await run('DROP TABLE growth_period')
    await run(`
INSERT INTO call_ids SELECT project_id, id, started_at_us FROM calls
WHERE toInt64(substring(id, 25)) >= ${PERIOD_CALLS}
SETTINGS max_insert_threads = ${THREADS}, optimize_on_insert = 0, insert_deduplicate = 0`)
    await run(`
INSERT INTO hour_changes (project_id, hour, begun, ended, changed_at)
SELECT '${project_id}', ${FIRST_US / HOUR_US} + number, 1, 1, now64(6)
FROM numbers(${RANGE_US / HOUR_US})`)
  } finally {
    await client.close()
  }
}
