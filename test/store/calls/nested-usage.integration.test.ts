import { describe, expect, it, onTestFinished } from 'vitest'
import { type Connection, openDatabase } from '../../../src/store/sqlite/db/connection.ts'
import { readMigrations } from '../../../src/store/sqlite/db/migrate.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { endOf, startOf } from './call-store-contract.ts'

const PROJECT = 'acme/demo'
const MODELS = ['m', 'it\'s "n"']
/** Counters that came later, in a migration that builds all hours again. */
const KINDS = [
  'input_audio_tokens',
  'input_image_tokens',
  'cache_read_audio_tokens',
  'cache_creation_1h_input_tokens',
  'reasoning_tokens',
  'output_audio_tokens',
  'output_image_tokens',
]
const TOLD = { requests: 2, prompt_tokens: 9, completion_tokens: 3 }

interface Sample {
  readonly id: string
  readonly parent_id?: string
  readonly usage?: object | null
  /** Long summaries are stored compressed. */
  readonly note?: string
  readonly at?: string
}

const CALLS: readonly Sample[] = [
  { id: 'root', usage: { ...TOLD, requests: 9 }, note: 'x'.repeat(5000) },
  { id: 'told', parent_id: 'root', usage: { requests: 1, prompt_tokens: 1 } },
  { id: 'untold', parent_id: 'root', usage: { prompt_tokens: 2 } },
  { id: 'long', parent_id: 'root', usage: { prompt_tokens: 3 }, note: 'x'.repeat(5000) },
  { id: 'silent', parent_id: 'root' },
  { id: 'running', parent_id: 'root', usage: null },
  { id: 'gone', parent_id: 'root', usage: TOLD },
  { id: 'lone', usage: { prompt_tokens: 4 }, at: '2026-01-01T15:00:00Z' },
  { id: 'self', parent_id: 'self', usage: TOLD },
  { id: 'top', usage: TOLD },
  { id: 'huge-1', parent_id: 'top', usage: { prompt_tokens: Number.MAX_SAFE_INTEGER } },
  { id: 'huge-2', parent_id: 'top', usage: { prompt_tokens: Number.MAX_SAFE_INTEGER } },
]

async function fill(dataDir: string): Promise<void> {
  const store = openSqliteStore({ dataDir, ingestQueueMax: 100 })
  for (const { id, parent_id = null, usage = {}, note, at } of CALLS) {
    const times = at ? { started_at: at } : {}
    await store.calls.startCall(startOf({ id, parent_id, trace_id: 't', ...times }))
    if (usage === null) continue
    const models = Object.keys(usage).length === 0 ? [] : MODELS
    const summary = { usage: Object.fromEntries(models.map((model) => [model, usage])), note }
    await store.calls.endCall(endOf({ id, summary }))
  }
  await store.calls.deleteCalls({ project_id: PROJECT, ids: ['gone'], deleted_at_us: 1 })
  await store.segments.buildAll()
  await store.close()
}

/** Columns of reported costs, and of what decides a price. */
const REPORTED = ['upstream_model', 'service_tier', 'reports_cost', 'reported_cost_microcents']

function rowsOf(db: Connection): Record<string, unknown>[] {
  const rows = db
    .prepare('SELECT id, call_usage.* FROM call_usage JOIN calls USING (call_key) ORDER BY 1, 3')
    .all() as Record<string, unknown>[]
  // What was told decides nothing where there is no other report of the model above or below.
  return rows.map((row) => (row.id === 'lone' ? { ...row, tells_requests: null } : row))
}

/** Takes away what the migration adds. */
function goBack(db: Connection): void {
  const added = (db.pragma('table_info(call_usage)') as { name: string }[])
    .map(({ name }) => name)
    .filter((name) => name === 'tells_requests' || name.startsWith('nested_'))
  expect(added).toHaveLength(16)
  for (const name of added) db.exec(`ALTER TABLE call_usage DROP COLUMN ${name}`)
}

describe('a database whose usage was counted again and again', () => {
  it('a database with repeatedly counted usage is corrected, and the affected hours are rebuilt', async () => {
    const dataDir = makeTempDir()
    await fill(dataDir)
    const db = openDatabase(dataDir)
    onTestFinished(() => void db.close())
    const expected = rowsOf(db)
    const find = (wanted: string) =>
      expected.find(({ id, model }) => id === wanted && model === MODELS[1])
    expect(find('root')).toMatchObject({
      tells_requests: 1,
      nested_requests: 1,
      nested_input_tokens: 6,
    })
    expect(find('top')).toMatchObject({ nested_input_tokens: Number.MAX_SAFE_INTEGER })
    goBack(db)
    for (const name of [...KINDS, ...REPORTED])
      db.exec(`ALTER TABLE call_usage DROP COLUMN ${name}`)
    for (const { name, sql } of readMigrations()) {
      if (/-(?:usage-nested|usage-kinds|reported-costs)\.sql$/.test(name)) db.exec(sql)
    }
    expect(rowsOf(db)).toEqual(expected)
    const hours = db.prepare('SELECT built_revision IS NULL FROM stats_hours ORDER BY hour')
    expect(hours.pluck().all()).toEqual([1, 1])
  })
})
