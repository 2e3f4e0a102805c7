import { statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { finishLog, openDatabase } from '../../src/store/sqlite/db/connection.ts'
import { createWalThread } from '../../src/store/sqlite/write/wal-thread.ts'
import { STARTED } from '../calls/call-fixtures.ts'
import { buildTestApp } from '../support/build-test-app.ts'
import { makeTempDir } from '../support/temp-dir.ts'

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
    const deadline = Date.now() + 15_000
    while (databaseBytes() === before && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    expect(databaseBytes()).toBeGreaterThan(before + COMMITS * 2000)
    const { body } = await app.post('/call/read', { project_id: 'acme/demo', id: 'c0' })
    expect(body.call.inputs.text).toHaveLength(2000)
  })

  it('gets a thread again after commits enough when it has lost one', async () => {
    const dataDir = makeTempDir()
    const db = openDatabase(dataDir)
    const workerFile = new URL('./support/dying-wal-worker.ts', import.meta.url)
    const log = createWalThread(db, dataDir, () => false, workerFile)
    onTestFinished(() => {
      log.close()
      db.close()
    })
    const automaticPages = () => db.pragma('wal_autocheckpoint', { simple: true })
    const alone = automaticPages()
    for (const commits of [64, 128, 256]) {
      for (let n = 1; n < commits; n++) log.noteCommit()
      expect(automaticPages()).toBe(alone)
      log.noteCommit()
      expect(automaticPages()).not.toBe(alone)
      await expect.poll(automaticPages).toBe(alone)
    }
  })

  it('is left as it is where it cannot be finished', () => {
    const db = openDatabase(makeTempDir())
    onTestFinished(() => void db.close())
    // No room on the disk fails the same way.
    db.exec('BEGIN IMMEDIATE; CREATE TABLE t (n INTEGER) STRICT')
    expect(() => db.pragma('wal_checkpoint(PASSIVE)')).toThrow()
    finishLog(db)
    expect(db.inTransaction).toBe(true)
  })
})
