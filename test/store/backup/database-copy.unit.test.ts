import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openDatabase } from '../../../src/store/sqlite/db/connection.ts'
import { createWalGateMemory, openWalGate } from '../../../src/store/sqlite/db/wal-gate.ts'
import {
  copyDatabase,
  createCopyMemory,
  openCopyProgress,
} from '../../../src/store/sqlite/write/database-copy.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

const ROW_BYTES = 1_000_000
const ROWS = 10

/** A database of some 2,500 pages, ten turns of a copy. */
function openFilled() {
  const dataDir = makeTempDir()
  const db = openDatabase(dataDir)
  onTestFinished(() => void db.close())
  db.exec('CREATE TABLE t (n INTEGER, bytes BLOB) STRICT')
  const insert = db.prepare(`INSERT INTO t VALUES (?, zeroblob(${ROW_BYTES}))`)
  for (let n = 0; n < ROWS; n++) insert.run(n)
  const memory = createCopyMemory()
  const gate = openWalGate(createWalGateMemory())
  const target = join(makeTempDir(), 'copy.db')
  return {
    dataDir,
    db,
    gate,
    target,
    progress: openCopyProgress(memory),
    run: () => copyDatabase(db, gate, target, memory),
  }
}

/** Acts in each turn of a copy until the copy has ended. */
async function besides(copy: Promise<string | null>, act: () => void): Promise<string | null> {
  let isOver = false
  void copy.then(() => {
    isOver = true
  })
  while (!isOver) {
    act()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return copy
}

describe('a copy of the database', () => {
  it('a database copy continues during commits of its own connection and contains them all', async () => {
    const { db, gate, run, target, progress } = openFilled()
    const update = db.prepare('UPDATE t SET n = n + 1')
    const seen: number[] = []
    let updates = 0
    const failure = await besides(run(), () => {
      updates += update.run().changes / ROWS
      seen.push(progress.read().done)
      expect(gate.isCopied()).toBe(true)
    })
    expect(failure).toBe(null)
    expect(gate.isCopied()).toBe(false)
    expect(seen).toEqual(seen.toSorted((left, right) => left - right))
    expect(updates).toBeGreaterThan(5)
    const copy = new Database(target)
    onTestFinished(() => void copy.close())
    expect(copy.pragma('integrity_check', { simple: true })).toBe('ok')
    const sum = db.prepare('SELECT sum(n) FROM t').pluck()
    // The last updates may have come behind the last page.
    const found = copy.prepare('SELECT sum(n) FROM t').pluck().get() as number
    expect(sum.get() as number).toBeLessThanOrEqual(found + 2 * ROWS)
  })

  it('a database copy is complete when rows are deleted and their pages freed meanwhile', async () => {
    const { db, run, target } = openFilled()
    const remove = db.prepare('DELETE FROM t WHERE n = (SELECT min(n) FROM t) AND n < 7')
    const failure = await besides(run(), () => {
      remove.run()
      db.pragma('incremental_vacuum')
    })
    expect(failure).toBe(null)
    const copy = new Database(target)
    onTestFinished(() => void copy.close())
    expect(copy.pragma('integrity_check', { simple: true })).toBe('ok')
    const rows = (of: typeof db) => of.prepare('SELECT n FROM t ORDER BY n').pluck().all()
    expect(rows(copy)).toEqual(rows(db))
    expect(rows(db).length).toBeLessThan(ROWS)
  })

  it('a database copy is abandoned when another program commits all the time', async () => {
    const { dataDir, run } = openFilled()
    const other = openDatabase(dataDir)
    onTestFinished(() => void other.close())
    const update = other.prepare('UPDATE t SET n = n + 1')
    const failure = await besides(run(), () => void update.run())
    expect(failure).toContain('other programs')
  })

  it('a database copy ends soon when stopped, and reports why a target cannot be written', async () => {
    const { db, gate, run, progress } = openFilled()
    progress.stop()
    expect(await run()).toBe('it was stopped')
    const nowhere = join(makeTempDir(), 'missing', 'copy.db')
    expect(await copyDatabase(db, gate, nowhere, createCopyMemory())).toContain('directory')
    expect(gate.isCopied()).toBe(false)
  })
})
