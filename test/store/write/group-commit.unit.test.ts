import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ApiError } from '../../../src/errors.ts'
import { openDatabase } from '../../../src/store/sqlite/db/connection.ts'
import {
  createGroupCommit,
  type GroupCommitOptions,
} from '../../../src/store/sqlite/write/group-commit.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

function openCommit(options: GroupCommitOptions = {}) {
  const db = new Database(':memory:')
  onTestFinished(() => void db.close())
  db.exec('CREATE TABLE t (n INTEGER PRIMARY KEY) STRICT')
  const insert = db.prepare('INSERT INTO t (n) VALUES (?)')
  const count = () => (db.prepare('SELECT count(*) AS n FROM t').get() as { n: number }).n
  return { db, insert, count, commit: createGroupCommit(db, options) }
}

describe('group commit', () => {
  it('writes of one turn share one transaction, and each resolves with its value', async () => {
    const { db, insert, commit, count } = openCommit()
    const seen: boolean[] = []
    const values = await Promise.all(
      [1, 2, 3].map((n) =>
        commit.write(() => {
          seen.push(db.inTransaction)
          insert.run(n)
          return n * 10
        }),
      ),
    )
    expect(values).toEqual([10, 20, 30])
    expect(seen).toEqual([true, true, true])
    expect([count(), db.inTransaction]).toEqual([3, false])
  })

  it('no promise settles before its write is on the disk', async () => {
    const { insert, commit, count } = openCommit()
    const write = commit.write(() => insert.run(1))
    expect(count()).toBe(0)
    await write
    expect(count()).toBe(1)
  })

  it('a commit waits for the disk unless no write of it is acknowledged', async () => {
    const { db, insert, commit } = openCommit()
    const seen: unknown[] = []
    const note = (n: number) => () => {
      seen.push(db.pragma('synchronous', { simple: true }))
      insert.run(n)
    }
    const NORMAL = 1
    const FULL = 2
    await commit.write(note(1), { isUnacknowledged: true })
    await commit.write(note(2))
    await Promise.all([commit.write(note(3), { isUnacknowledged: true }), commit.write(note(4))])
    expect(seen).toEqual([NORMAL, FULL, FULL, FULL])
  })

  it('a failing write is rolled back and fails alone', async () => {
    const { insert, commit, count } = openCommit()
    const results = await Promise.allSettled([
      commit.write(() => insert.run(1)),
      commit.write(() => {
        insert.run(2)
        throw new ApiError('call_conflict')
      }),
      commit.write(() => insert.run(3)),
    ])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(count()).toBe(2)
  })

  it('every write of a transaction that the database has ended fails', async () => {
    const { db, insert, commit, count } = openCommit()
    const results = await Promise.allSettled([
      commit.write(() => insert.run(1)),
      commit.write(() => {
        db.exec('ROLLBACK')
        throw new Error('disk full')
      }),
    ])
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(count()).toBe(0)
    await commit.write(() => insert.run(9))
    expect(count()).toBe(1)
  })

  it.each([
    ['takes long', { batchMs: 0 }, 1],
    ['is large', {}, 8 * 1024 * 1024],
  ])('that %s has no others share its transaction', async (_name, options, bytes) => {
    const { db, commit } = openCommit(options)
    let commits = 0
    commit.join({
      beforeCommit() {
        commits += 1
      },
    })
    const seen: number[] = []
    const note = () => void seen.push(commits)
    await Promise.all([1, 2, 3].map(() => commit.write(note, { bytes })))
    expect(seen).toEqual([0, 1, 2])
    expect(db.inTransaction).toBe(false)
  })

  it('several batches are written in order', async () => {
    const { insert, commit, count } = openCommit()
    await Promise.all(Array.from({ length: 2500 }, (_, n) => commit.write(() => insert.run(n))))
    expect(count()).toBe(2500)
  })

  it('closing writes what waits, and nothing later', async () => {
    const { insert, commit, count } = openCommit()
    const waiting = commit.write(() => insert.run(1))
    commit.close()
    expect(count()).toBe(1)
    await waiting
    await expect(commit.write(() => insert.run(2))).rejects.toMatchObject({
      code: 'server_draining',
    })
  })
})

/** A database that another connection is writing to until it is released. */
function openLocked(lockedMs?: number) {
  const dataDir = makeTempDir()
  const db = openDatabase(dataDir)
  db.exec('CREATE TABLE t (n INTEGER PRIMARY KEY) STRICT')
  const other = new Database(join(dataDir, 'weft.db'))
  onTestFinished(() => {
    db.close()
    other.close()
  })
  other.exec('BEGIN IMMEDIATE')
  const insert = db.prepare('INSERT INTO t (n) VALUES (?)')
  const commit = createGroupCommit(db, lockedMs === undefined ? {} : { lockedMs })
  return { insert, commit, letGo: () => void other.exec('COMMIT') }
}

describe('group commit beside another process that writes', () => {
  it('a commit waits for another process without blocking the event loop, and writes each once and in order', async () => {
    const { insert, commit, letGo } = openLocked()
    const written: number[] = []
    const write = (n: number) =>
      commit.write(() => {
        insert.run(n)
        written.push(n)
      })
    const first = write(1)
    // The other connection is released by the event loop, so the loop must keep running.
    await new Promise((resolve) => setTimeout(resolve, 30))
    const second = write(2)
    letGo()
    await Promise.all([first, second])
    expect(written).toEqual([1, 2])
  })

  it('a commit fails with store_unavailable while another process writes, and succeeds when it has ended', async () => {
    const { insert, commit, letGo } = openLocked(20)
    await expect(commit.write(() => insert.run(1))).rejects.toMatchObject({
      code: 'store_unavailable',
    })
    letGo()
    await expect(commit.write(() => insert.run(1))).resolves.toMatchObject({ changes: 1 })
  })
})
