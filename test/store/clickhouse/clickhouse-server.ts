/**
 * A ClickHouse for tests: the server of TEST_CLICKHOUSE_URL, or chdb behind a small HTTP front in a process of its own.
 * Where neither is there, the tests that need one are reported as skipped.
 */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { createClient } from '@clickhouse/client'
import { onTestFinished } from 'vitest'
import { findTool } from '../../../bench/tools/find-tool.ts'

const given = process.env.TEST_CLICKHOUSE_URL ?? null

export const hasClickHouse = given !== null || findTool('chdb') !== null
/** Whether faults can be had. */
export const hasFaults = given === null && findTool('chdb') !== null
if (!hasClickHouse) {
  process.stderr.write('skipped: ClickHouse (npm run tools -- chdb, or TEST_CLICKHOUSE_URL)\n')
}

export interface Fault {
  readonly matching: string
  readonly kind: 'refuse' | 'reset' | 'slow' | 'lose_answer' | 'proxy'
  readonly count: number
  readonly delayMs?: number
}

const FRONT = new URL('./chdb-front.ts', import.meta.url).pathname
let started: Promise<string> | null = null

/** Address of the server without a database; started with the first test that asks. */
function serverUrl(): Promise<string> {
  started ??= given === null ? startFront() : Promise.resolve(given)
  return started
}

async function startFront(): Promise<string> {
  const { UV_THREADPOOL_SIZE: _threads, ...env } = process.env
  const child = spawn(process.execPath, [FRONT], {
    env: { ...env, UV_THREADPOOL_SIZE: '16' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.unref()
  const [port] = await once(createInterface({ input: child.stdout }), 'line')
  return `http://127.0.0.1:${port}`
}

/** An empty database of its own, gone when the test ends. @returns its address */
export async function makeDatabase(): Promise<string> {
  const { url, drop } = await createDatabase()
  onTestFinished(drop)
  return url
}

const lent: string[] = []

/**
 * A database that may have been another test's: with its tables, which are empty. For tests that alter no table and
 * leave no write behind, as emptying them takes 8 ms of the processor, and creating them 62.
 *
 * @returns its address
 */
export async function borrowDatabase(): Promise<string> {
  const url = lent.pop() ?? (await createDatabase()).url
  onTestFinished(async () => {
    const client = createClient({ url })
    await client.command({
      query: `TRUNCATE ALL TABLES FROM ${new URL(url).pathname.slice(1)} NOT LIKE 'weft_migrations'`,
    })
    await client.close()
    lent.push(url)
  })
  return url
}

/** The same for more than one test: the caller drops it. */
export async function createDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const url = new URL(await serverUrl())
  const name = `weft_${randomUUID().replaceAll('-', '')}`
  const client = createClient({ url: url.href })
  await client.command({ query: `CREATE DATABASE ${name}` })
  url.pathname = `/${name}`
  return {
    url: url.href,
    async drop() {
      await client.command({ query: `DROP DATABASE ${name}` })
      await client.close()
    },
  }
}

/** Has the front fail from here to the end of the test, or until it is told otherwise. */
export async function setFaults(faults: readonly Fault[]): Promise<void> {
  await fetch(new URL('/faults', await serverUrl()), {
    method: 'POST',
    body: JSON.stringify(faults),
  })
}

/** How many requests the first fault is still to meet. */
export async function readFaultCount(): Promise<number | undefined> {
  const response = await fetch(new URL('/faults', await serverUrl()))
  return ((await response.json()) as Fault[])[0]?.count
}
