/**
 * Stores as release 0.1.0 left them: tables by its migrations, rows as it had written them after some requests, and what it
 * then responded with. The times, ids and costs that a later release adds are no difference.
 */
import { deepStrictEqual, partialDeepStrictEqual } from 'node:assert'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { connectClickHouse } from '../../src/store/clickhouse/db/client.ts'
import { migrate as migrateClickHouse } from '../../src/store/clickhouse/db/migrate.ts'
import { migrate as migratePostgres } from '../../src/store/postgres/db/migrate.ts'
import { closeDatabase, openDatabase } from '../../src/store/sqlite/db/connection.ts'
import { migrate as migrateSqlite } from '../../src/store/sqlite/db/migrate.ts'

/** How many migrations the release had. */
const MIGRATIONS = { sqlite: 28, postgres: 13, clickhouse: 3 } as const
const RELEASE = join(import.meta.dirname, '0.1.0')

interface OlderRead {
  readonly path: string
  readonly body: object
  /** Without what the stores have given out themselves; absent for bytes. */
  readonly response?: object
}

const readText = (name: string) => readFileSync(join(RELEASE, name), 'utf8')

const READS = JSON.parse(readText('reads.json')) as readonly OlderRead[]
const FILE = Buffer.from('bytes of a file\0\u00ff')

async function withMigrations(
  store: keyof typeof MIGRATIONS,
  run: (directory: string) => unknown,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'weft-older-'))
  const source = join(import.meta.dirname, '../../migrations', store)
  try {
    for (const name of readdirSync(source).sort().slice(0, MIGRATIONS[store])) {
      cpSync(join(source, name), join(folder, name))
    }
    await run(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** @param dataDir - an empty directory */
export function fillOlderDirectory(dataDir: string): Promise<void> {
  return withMigrations('sqlite', (directory) => {
    const db = openDatabase(dataDir)
    try {
      migrateSqlite(db, directory)
      db.pragma('foreign_keys = OFF')
      db.exec(readText('sqlite.sql'))
    } finally {
      closeDatabase(db)
    }
  })
}

/** @param url - of an empty database */
export function fillOlderPostgres(url: string): Promise<void> {
  return withMigrations('postgres', async (directory) => {
    await migratePostgres(url, { directory })
    const client = new Client({ connectionString: url })
    await client.connect()
    try {
      await client.query(readText('postgres.sql'))
    } finally {
      await client.end()
    }
  })
}

/** @param url - of an empty database */
export function fillOlderClickHouse(url: string): Promise<void> {
  return withMigrations('clickhouse', async (directory) => {
    const db = connectClickHouse({ url, readTimeoutMs: 20_000 })
    try {
      await migrateClickHouse(db, null, directory)
      for (const insert of readText('clickhouse.sql').trim().split('\n\n')) {
        const [statement = '', ...lines] = insert.split('\n')
        const [, table = ''] = /^INSERT INTO (\w+) /.exec(statement) ?? []
        const rows = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
        await db.insert(table, rows, table)
      }
    } finally {
      await db.close()
    }
  })
}

/**
 * Reads all that the release had responded with.
 *
 * @param send - POSTs JSON with a key
 * @throws AssertionError for the first difference
 */
export async function requireSameReads(
  send: (
    path: string,
    body: object,
  ) => Promise<{ readonly status: number; readonly bytes: Buffer }>,
): Promise<void> {
  for (const { path, body, response } of READS) {
    const { status, bytes } = await send(path, body)
    const text = bytes.toString()
    if (status !== 200) throw new Error(`${path} is ${status}: ${text}`)
    if (response === undefined) deepStrictEqual(bytes, FILE, path)
    else {
      const lines = Array.isArray(response) ? text.trim().split('\n') : [text]
      const found = lines.map((line) => JSON.parse(line) as unknown)
      const expected = Array.isArray(response) ? response : [response]
      if (found.length !== expected.length) throw new Error(`${path} has ${found.length} rows`)
      partialDeepStrictEqual(found, expected, path)
    }
  }
}
