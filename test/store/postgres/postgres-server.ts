/**
 * A PostgreSQL for tests: the server of TEST_POSTGRES_URL, or Debian's own in a process beside. Where neither is there,
 * the tests that need one are reported as skipped.
 */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Client, Pool } from 'pg'
import { onTestFinished } from 'vitest'
import { migrate } from '../../../src/store/postgres/db/migrate.ts'

const given = process.env.TEST_POSTGRES_URL ?? null
/** The newest that is installed. */
const bin = globSync('/usr/lib/postgresql/*/bin/initdb')
  .sort()
  .at(-1)
  ?.replace(/initdb$/, '')

export const hasPostgres = given !== null || bin !== undefined
if (!hasPostgres) {
  process.stderr.write('skipped: PostgreSQL (apt install postgresql, or TEST_POSTGRES_URL)\n')
}

const FRONT = new URL('./postgres-front.ts', import.meta.url).pathname
let started: Promise<string> | null = null
let template: Promise<string> | null = null

/** Address of the server with a database that is always there; started with the first test that asks. */
function serverUrl(): Promise<string> {
  started ??= given === null ? startFront() : Promise.resolve(given)
  return started
}

async function startFront(): Promise<string> {
  const child = spawn(process.execPath, [FRONT, bin ?? ''], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.unref()
  const [folder] = await once(createInterface({ input: child.stdout }), 'line')
  return `postgres://weft@${encodeURIComponent(folder)}/postgres`
}

async function command(sql: string, url?: string): Promise<void> {
  const client = new Client({ connectionString: url ?? (await serverUrl()) })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

function addressOf(server: string, name: string): string {
  return server.replace(/\/[^/?]*(\?|$)/, `/${name}$1`)
}

/** A database with all tables, of which those of tests are copies. */
async function makeTemplate(): Promise<string> {
  const name = newName()
  await command(`CREATE DATABASE ${name}`)
  await migrate(addressOf(await serverUrl(), name))
  return name
}

function newName(): string {
  return `weft_${randomUUID().replaceAll('-', '')}`
}

/**
 * A database of a test's own, gone when the test ends.
 *
 * @param isEmpty - whether it begins without tables
 * @returns its address
 */
export async function makeDatabase({ isEmpty = false } = {}): Promise<string> {
  const { url, drop } = await createDatabase({ isEmpty })
  onTestFinished(drop)
  return url
}

/** The same for more than one test: the caller drops it. */
export async function createDatabase({ isEmpty = false } = {}) {
  const name = await copyDatabase(isEmpty ? 'template0' : await findTemplate())
  return {
    url: addressOf(await serverUrl(), name),
    drop: () => command(`DROP DATABASE ${name} WITH (FORCE)`),
  }
}

function findTemplate(): Promise<string> {
  template ??= makeTemplate()
  return template
}

async function copyDatabase(source: string): Promise<string> {
  const name = newName()
  await command(`CREATE DATABASE ${name} TEMPLATE ${source} STRATEGY file_copy`)
  return name
}

interface LentDatabase {
  readonly url: string
  /** Empties it, by a connection that stays: a new one has to read the catalog of all tables first. */
  readonly pool: Pool
}

const lent: LentDatabase[] = []

/** Empties every table but that of migrations. Without foreign keys, which would want an order. */
const EMPTY = `SET session_replication_role = replica;
DO $$ DECLARE name text; BEGIN
  FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'weft_migrations'
  LOOP EXECUTE format('DELETE FROM %I', name); END LOOP;
END $$`

async function makeLentDatabase(): Promise<LentDatabase> {
  const url = addressOf(await serverUrl(), await copyDatabase(await findTemplate()))
  const pool = new Pool({
    connectionString: url,
    max: 1,
    idleTimeoutMillis: 0,
    allowExitOnIdle: true,
  })
  // The server ends before the pool, with the process of the tests.
  pool.on('error', () => undefined)
  return { url, pool }
}

/**
 * A database that may have been another test's: with its tables, which are empty. For tests that alter no table, as
 * emptying them takes a few milliseconds, and making and dropping a database 20 to 40.
 *
 * @returns its address
 */
export async function borrowDatabase(): Promise<string> {
  const database = lent.pop() ?? (await makeLentDatabase())
  onTestFinished(async () => {
    await database.pool.query(EMPTY)
    lent.push(database)
  })
  return database.url
}
