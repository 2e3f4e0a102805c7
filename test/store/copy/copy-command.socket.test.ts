import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openSqliteStore } from '../../../src/store/sqlite/open.ts'
import { INHERITED } from '../../support/inherited.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { startOf } from '../calls/call-store-contract.ts'
import {
  hasClickHouse,
  makeDatabase as makeClickHouseDatabase,
} from '../clickhouse/clickhouse-server.ts'
import { openTestStores } from '../postgres/open-postgres.ts'
import { hasPostgres, makeDatabase } from '../postgres/postgres-server.ts'
import { fillDirectory, readStores } from './filled-stores.ts'

/** The command as a person runs it. */
function startCopy(settings: Record<string, string>, ...args: readonly string[]) {
  const child = spawn(process.execPath, ['src/store-copy.ts', '--from', 'sqlite', ...args], {
    env: {
      ...INHERITED,
      WEFT_STORE: 'clickhouse',
      WEFT_CLICKHOUSE_URL: 'http://127.0.0.1:1/weft',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const closed = new Promise<number | null>((resolve) => child.on('close', resolve))
  const ended = Promise.all([closed, text(child.stdout), text(child.stderr)])
  return { child, ended }
}

describe.skipIf(!hasPostgres)('npm run store:copy -- --to postgres', () => {
  it('store:copy killed during a write loses nothing, and reports what both stores have', async () => {
    const { dataDir, filled, told } = await fillDirectory()
    const url = await makeDatabase()
    const settings = { WEFT_DATA_DIR: dataDir, WEFT_META_URL: url }
    const settled = await openTestStores(url)
    expect(await settled.keys.listKeys()).toEqual([])
    const killed = startCopy(settings, '--to', 'postgres')
    killed.child.stderr.on('data', (text) => {
      if (String(text).includes('copied objects')) killed.child.kill('SIGKILL')
    })
    await killed.ended
    expect(await settled.keys.listKeys()).toEqual([])
    const [code, stdout, stderr] = await startCopy(settings, '--to', 'postgres').ended
    expect(stderr).toContain('copied blob_chunks')
    // A log has lines, not a bar that is drawn over and over.
    expect(stderr).toMatch(/^(?:\d+\/\d+ \w+ \w+\n)+$/)
    expect(stdout).toMatch(/^feedback: 2 rows, checksum [0-9a-f]{16}, the same in both$/m)
    expect(code).toBe(0)
    expect(await readStores(await openTestStores(url), filled)).toEqual(told)
  })

  it('store:copy says in one line what it needs', async () => {
    const WEFT_DATA_DIR = makeTempDir()
    const WEFT_META_URL = 'postgres://me:secret@127.0.0.1:1/weft'
    const endOf = async (settings: Record<string, string>, ...args: readonly string[]) => {
      const [code, , stderr] = await startCopy(settings, ...args).ended
      expect(code).toBe(1)
      expect(stderr).not.toContain('secret')
      return stderr.trim()
    }
    const [unset, noSource, usage] = await Promise.all([
      endOf({ WEFT_DATA_DIR }, '--to', 'postgres'),
      endOf({ WEFT_DATA_DIR, WEFT_META_URL }, '--to', 'postgres'),
      endOf({ WEFT_DATA_DIR, WEFT_META_URL }, '--to', 'postgres', '--project', 'acme/demo'),
    ])
    expect(unset).toBe('weft: WEFT_META_URL must be set')
    expect(noSource).toMatch(/^weft: cannot use the data directory .*: it has no weft\.db$/)
    expect(usage).toMatch(/^weft: --project needs --to clickhouse.*\nusage:\n/)
  })
})

it('npm run store:copy -- --to clickhouse makes no database where there is none', async () => {
  const WEFT_DATA_DIR = makeTempDir()
  const [code, , stderr] = await startCopy({ WEFT_DATA_DIR }, '--to', 'clickhouse').ended
  const told = `weft: cannot use the data directory ${WEFT_DATA_DIR}: it has no weft.db\n`
  expect([code, stderr, readdirSync(WEFT_DATA_DIR)]).toEqual([1, told, []])
})

describe.skipIf(!hasClickHouse)('npm run store:copy -- --to clickhouse', () => {
  it('store:copy copies the named projects, or all with calls', async () => {
    const WEFT_DATA_DIR = makeTempDir()
    const store = openSqliteStore({ dataDir: WEFT_DATA_DIR, ingestQueueMax: 10 })
    const starts = ['acme/a', 'acme/b', 'other/c'].map((project_id) => startOf({ project_id }))
    await store.calls.writeParts(starts.map((start) => ({ start, end: null })))
    await store.close()
    const settings = { WEFT_DATA_DIR, WEFT_CLICKHOUSE_URL: await makeClickHouseDatabase() }
    const told = async (...args: readonly string[]) => {
      const [code, stdout, stderr] = await startCopy(settings, '--to', 'clickhouse', ...args).ended
      expect([code, stderr]).toEqual([0, expect.stringContaining('1/1 compared')])
      return [...stdout.matchAll(/^(\S+): 1 calls, .* the same in both$/gm)].map(([, name]) => name)
    }
    expect(await told('--project', 'acme/b')).toEqual(['acme/b'])
    expect(await told()).toEqual(['acme/a', 'acme/b', 'other/c'])
    const unknown = startCopy(settings, '--to', 'clickhouse', '--project', 'acme/typo')
    expect(await unknown.ended).toEqual([
      1,
      '',
      `weft: ${WEFT_DATA_DIR} has no calls of acme/typo\n`,
    ])
  })
})
