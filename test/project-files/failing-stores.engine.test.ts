/** Exports whose stores fail, or are not those of this version. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { openProjectSource } from '../../src/deps.ts'
import { exportProject } from '../../src/project-files/export-project.ts'
import { hasFaults, makeDatabase, setFaults } from '../store/clickhouse/clickhouse-server.ts'
import { hasPostgres, makeDatabase as makePostgres } from '../store/postgres/postgres-server.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { filled, inSqlite, PROJECT, type Settings } from './project-folders.ts'

const inClickHouse = async () => ({
  ...inSqlite(),
  WEFT_STORE: 'clickhouse',
  WEFT_CLICKHOUSE_URL: await makeDatabase(),
})

const inBoth = async () => ({ ...(await inClickHouse()), WEFT_META_URL: await makePostgres() })

async function openFilled(settings: Settings) {
  const source = await openProjectSource(readConfig(await filled(settings)), PROJECT)
  onTestFinished(async () => source.close())
  return { source, folder: join(makeTempDir(), 'out') }
}

/** Ends all other connections to a database. */
async function disconnect(url: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  )
  await client.end()
}

/** What the other connections to a database do. */
async function statesOfOthers(url: string): Promise<string[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(
    "SELECT state FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'",
  )
  await client.end()
  return rows.map(({ state }) => state)
}

describe.skipIf(!hasFaults)('an export from ClickHouse', () => {
  it('leaves an empty folder when ClickHouse fails between two reads', async () => {
    const { source, folder } = await openFilled(await inClickHouse())
    await setFaults([{ matching: 'SELECT', kind: 'reset', count: 9 }])
    onTestFinished(() => setFaults([]))
    const target = { folder, format: 'jsonl', project_id: PROJECT } as const
    await expect(exportProject(source, target)).rejects.toMatchObject({ code: 'store_unavailable' })
    expect(readdirSync(folder)).toEqual([])
  })

  it('is refused where no server has made the tables', async () => {
    const opened = openProjectSource(readConfig(await inClickHouse()), PROJECT)
    await expect(opened).rejects.toThrow(/^WEFT_CLICKHOUSE_URL: ClickHouse: UNKNOWN_TABLE/)
  })
})

describe.skipIf(!hasFaults || !hasPostgres)('an export from PostgreSQL', () => {
  it('leaves an empty folder when the connection ends after the calls are read', async () => {
    const settings = await inBoth()
    const { source, folder } = await openFilled(settings)
    async function* calls() {
      yield* source.calls()
      await disconnect(settings.WEFT_META_URL)
    }
    const target = { folder, format: 'parquet', project_id: PROJECT } as const
    await expect(exportProject({ ...source, calls }, target)).rejects.toThrow(/^WEFT_META_URL: /)
    expect(readdirSync(folder)).toEqual([])
  })

  it('holds no transaction open while the calls are read', async () => {
    const settings = await inBoth()
    const { source, folder } = await openFilled(settings)
    const states: string[] = []
    async function* calls() {
      yield* source.calls()
      states.push(...(await statesOfOthers(settings.WEFT_META_URL)))
    }
    const target = { folder, format: 'jsonl', project_id: PROJECT } as const
    await exportProject({ ...source, calls }, target)
    expect(states).toEqual(['idle'])
  })

  it('is refused where no server has made the tables', async () => {
    const settings = await filled(await inBoth())
    const WEFT_META_URL = await makePostgres({ isEmpty: true })
    const opened = openProjectSource(readConfig({ ...settings, WEFT_META_URL }), PROJECT)
    await expect(opened).rejects.toThrow('WEFT_META_URL: PostgreSQL: error 42P01')
  })

  it('has what was stored when its first record besides calls was read', async () => {
    const settings = await inBoth()
    const { source, folder } = await openFilled(settings)
    async function* feedback() {
      yield* source.feedback()
      await filled({ ...settings, ...inSqlite() })
    }
    const target = { folder, format: 'jsonl', project_id: PROJECT } as const
    const { records } = await exportProject({ ...source, feedback }, target)
    expect(records).toMatchObject({ feedback: 1, files: 1 })
  })
})
