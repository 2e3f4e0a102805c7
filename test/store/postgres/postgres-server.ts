/**
 * A PostgreSQL for tests: the server of TEST_POSTGRES_URL, or Debian's own in a process beside. Where neither is there,
 * the tests that need one are reported as skipped.
 */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Client } from 'pg'
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

async function command(sql: string): Promise<void> {
  const client = new Client({ connectionString: await serverUrl() })
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
  const name = newName()
  template ??= makeTemplate()
  await command(`CREATE DATABASE ${name} TEMPLATE ${isEmpty ? 'template0' : await template}`)
  onTestFinished(() => command(`DROP DATABASE ${name} WITH (FORCE)`))
  return addressOf(await serverUrl(), name)
}
