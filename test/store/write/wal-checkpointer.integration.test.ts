import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  DATABASE_FILE,
  openCheckpointDatabase,
  openDatabase,
  openReadOnlyDatabase,
} from '../../../src/store/sqlite/db/connection.ts'
import { createWalGateMemory, openWalGate } from '../../../src/store/sqlite/db/wal-gate.ts'
import { createReadPool } from '../../../src/store/sqlite/read/read-pool.ts'
import { createWalCheckpointer } from '../../../src/store/sqlite/write/wal-checkpointer.ts'
import { createWalCheck } from '../../../src/store/sqlite/write/wal-checkpointer-serve.ts'
import { STARTED } from '../../calls/call-fixtures.ts'
import { buildTestApp } from '../../support/build-test-app.ts'
import { readCaller } from '../../support/read-caller.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import type { TestReadJobs } from '../read/test-read-jobs.ts'

/** More than the thread waits for, far less than SQLite moves by itself. */
const COMMITS = 80

describe('the log', () => {
  it('is moved into the database while the server runs, and calls stay readable', async () => {
    const dataDir = makeTempDir()
    const app = await buildTestApp({ dataDir })
    const databaseBytes = () => statSync(join(dataDir, 'weft.db')).size
    const before = databaseBytes()
    for (let n = 0; n < COMMITS; n++) {
      const start = { ...STARTED, id: `c${n}`, inputs: { text: 'x'.repeat(2000) } }
      expect((await app.post('/call/start', { start })).status).toBe(200)
    }
    await expect.poll(databaseBytes).toBeGreaterThan(before + COMMITS * 2000)
    const { body } = await app.post('/call/read', { project_id: 'acme/demo', id: 'c0' })
    expect(body.call.inputs.text).toHaveLength(2000)
  })

  it('gets a thread again after commits enough when it has lost one, and holds up nobody meanwhile', async () => {
    const path = join(makeTempDir(), 'weft.db')
    const gate = createWalGateMemory()
    const entry = new URL('../support/dying-wal-checkpointer-entry.ts', import.meta.url)
    const log = createWalCheckpointer({ path, gate, entry })
    onTestFinished(log.close)
    const starts = () => statSync(`${path}-starts`, { throwIfNoEntry: false })?.size ?? 0
    for (const [lost, commits] of [8, 16, 32].entries()) {
      for (let n = 1; n < commits; n++) log.noteCommit()
      expect(starts()).toBe(lost)
      log.noteCommit()
      await expect.poll(starts).toBe(lost + 1)
      await expect.poll(() => openWalGate(gate).isFull()).toBe(false)
    }
  })

  it('stays short while reads overlap without end, and is cut to nothing at rest', async () => {
    const { path, look, write, logBytes, gate, reads } = await openOverlap()
    let longest = 0
    for (let n = 0; n < WRITES; n++) {
      write()
      do look()
      while (gate.isFull())
      longest = Math.max(longest, logBytes())
      await setImmediate()
    }
    expect(longest).toBeGreaterThan(LIMITS.drainBytes)
    expect(longest).toBeLessThan(LIMITS.fullBytes + 2 * WRITE_BYTES)
    expect(WRITES * WRITE_BYTES).toBeGreaterThan(4 * longest)
    await reads.close()
    // A slow machine may have been at rest before.
    gate.setCopied(true)
    write()
    look()
    vi.spyOn(performance, 'now').mockReturnValueOnce(performance.now() + 500)
    look()
    expect(logBytes()).toBeGreaterThan(0)
    gate.setCopied(false)
    const lookAgain = () => {
      look()
      return logBytes()
    }
    await expect.poll(lookAgain).toBe(0)
    expect(statSync(path).size).toBeGreaterThan(WRITES * WRITE_BYTES)
  })

  it('is given up for a while where a read that is not ours never ends', async () => {
    const { path, look, write, gate, logBytes, reads } = await openOverlap({
      ...LIMITS,
      shutMsMax: 150,
    })
    await reads.close()
    const foreign = openReadOnlyDatabase(path)
    onTestFinished(() => void foreign.close())
    const rows = foreign.prepare('SELECT n FROM t').iterate()
    write()
    rows.next()
    for (let n = 0; n < LIMITS.fullBytes / WRITE_BYTES + 1; n++) write()
    look()
    while (gate.isFull()) look()
    expect(logBytes()).toBeGreaterThan(LIMITS.fullBytes)
    write()
    look()
    expect(gate.isFull()).toBe(false)
    rows.return?.()
  })
})

const LIMITS = {
  drainBytes: 2 * 1024 * 1024,
  fullBytes: 4 * 1024 * 1024,
  quietMs: 0,
  shutMsMax: 10_000,
}
const WRITE_BYTES = 256 * 1024
const WRITES = 100

/** A database that is read all the time by three threads, and its log, which is looked at by hand. */
async function openOverlap(limits = LIMITS) {
  const directory = makeTempDir()
  const path = join(directory, DATABASE_FILE)
  const db = openDatabase(directory)
  db.pragma('wal_autocheckpoint = 0')
  db.pragma('journal_size_limit = 1000000')
  db.exec('CREATE TABLE t (n INTEGER, bytes BLOB) STRICT')
  const insert = db.prepare('INSERT INTO t VALUES (1, zeroblob(?))')
  const keeper = openCheckpointDatabase(path)
  const memory = createWalGateMemory()
  const gate = openWalGate(memory)
  const reads = createReadPool<TestReadJobs>({
    path,
    readers: 4,
    queueMax: 9,
    timeoutMs: 60_000,
    gate: memory,
    entry: new URL('../read/test-reader-entry.ts', import.meta.url),
  })
  onTestFinished(async () => {
    await reads.close()
    keeper.close()
    db.close()
  })
  for (const project_id of ['a', 'b', 'c']) {
    reads.run('hold', null, readCaller({ project_id })).catch(() => undefined)
  }
  // All three have begun when each thread had time for another job.
  await Promise.all(
    ['d', 'e'].map((id) => reads.run('echo', { text: id }, readCaller({ project_id: id }))),
  )
  return {
    path,
    gate,
    reads,
    look: createWalCheck(keeper, path, gate, limits),
    write: () => void insert.run(WRITE_BYTES),
    logBytes: () => statSync(`${path}-wal`).size,
  }
}
