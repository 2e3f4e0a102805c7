import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createCallWrites } from '../../../src/store/sqlite/calls/call-writes.ts'
import { createNameKeys } from '../../../src/store/sqlite/calls/columns/id-columns.ts'
import { type Connection, openDatabase } from '../../../src/store/sqlite/db/connection.ts'
import { migrate, readMigrations } from '../../../src/store/sqlite/db/migrate.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open.ts'
import { createHourMarks } from '../../../src/store/sqlite/stats/hour-marks.ts'
import { createGroupCommit } from '../../../src/store/sqlite/write/group-commit.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { endOf, startOf } from './call-store-contract.ts'

const MIGRATIONS = fileURLToPath(new URL('../../../migrations/sqlite/', import.meta.url))
/** Migrations before calls were narrow. */
const WIDE = 13
const PROJECT = 'acme/demo'

const UUID = '01980c1e-8a7b-7c3d-9e2f-0123456789ab'
const TRACE = '0123456789abcdef0123456789abcdef'
const SPAN = 'fedcba9876543210'
/** Each the parent of the next. */
const IDS = [
  UUID,
  UUID.toUpperCase(),
  UUID.replaceAll('-', ''),
  TRACE,
  SPAN,
  'call-1',
  '',
  '7',
  '🦀',
]

const INSERT_CALL = `
INSERT INTO calls (
  project_id, id, trace_id, parent_id, thread_id, turn_id, op_name, started_at_us, storage_size_bytes
)
VALUES (@project_id, @id, @trace_id, @parent_id, @thread_id, @turn_id, @op_name, 7, 1)`

function open(dataDir = ':memory:'): Connection {
  const db = openDatabase(dataDir)
  onTestFinished(() => void db.close())
  return db
}

function makeWideDatabase(dataDir: string) {
  const directory = makeTempDir()
  for (const { name } of readMigrations().slice(0, WIDE)) {
    cpSync(join(MIGRATIONS, name), join(directory, name))
  }
  const db = openDatabase(dataDir)
  migrate(db, `${directory}/`)
  const calls = ['acme/other', PROJECT].flatMap((project_id) =>
    IDS.map((id, at) => ({
      project_id,
      id,
      trace_id: IDS[at % 3],
      parent_id: IDS[at - 1] ?? null,
      thread_id: at % 2 === 0 ? id : null,
      turn_id: id,
      op_name: `op ${at % 4}`,
    })),
  )
  const addBodies = db.prepare(
    "INSERT INTO call_bodies (call_key, attributes_json, inputs_json) VALUES (?, '{}', '{}')",
  )
  for (const call of calls) addBodies.run(db.prepare(INSERT_CALL).run(call).lastInsertRowid)
  db.close()
  return calls
}

function openWrites() {
  const db = open()
  migrate(db)
  const commit = createGroupCommit(db)
  const hours = createHourMarks(db, commit)
  const keys = createNameKeys(db, commit)
  const writes = createCallWrites(db, hours, keys)
  const start = (fields: object) => commit.write(() => writes.start_call(startOf(fields)))
  return { db, commit, writes, start }
}

describe('a database with wide calls', () => {
  it('a database with wide calls has the same calls, traces and descendants after its migration', async () => {
    const dataDir = makeTempDir()
    const calls = makeWideDatabase(dataDir)
    const store = openSqliteStore({ dataDir, ingestQueueMax: 1000 })
    onTestFinished(() => store.close())
    for (const call of calls) {
      await expect(store.calls.findCall(call.project_id, call.id)).resolves.toMatchObject(call)
    }
    for (const id of IDS.slice(0, 3)) {
      await expect(store.calls.sumTraceSizeBytes(PROJECT, id)).resolves.toBe(3)
    }
    const deletion = { project_id: PROJECT, ids: [IDS[3] as string], deleted_at_us: 9 }
    await expect(store.calls.deleteCalls(deletion)).resolves.toHaveLength(IDS.length - 3)
    await expect(store.calls.findCall('acme/other', SPAN)).resolves.not.toBeNull()

    const db = open(dataDir)
    expect(db.pragma('foreign_key_check')).toEqual([])
    expect(db.pragma('foreign_keys', { simple: true })).toBe(1)
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok')
    const packed = db.prepare("SELECT count(*) FROM calls WHERE typeof(id) = 'blob'").pluck()
    expect(packed.get()).toBe(8)
  })
})

describe('narrow calls', () => {
  it('a new call has an unused key, also after the newest calls were removed', async () => {
    const { db, start } = openWrites()
    for (const id of ['a', 'b']) await start({ id })
    const newest = db.prepare('SELECT max(call_key) FROM calls').pluck()
    const before = newest.get() as number
    db.exec('DELETE FROM call_bodies; DELETE FROM calls')
    await start({ id: 'c' })
    expect(newest.get()).toBeGreaterThan(before)
  })

  it('calls have their project and op when another write that named them first has failed', async () => {
    const { db, commit, writes, start } = openWrites()
    const failed = commit.write(() => {
      writes.start_call(startOf({ id: 'failed' }))
      throw new Error('no')
    })
    await Promise.all([expect(failed).rejects.toThrow(), start({ id: 'a' })])
    const named = `
      SELECT id, project_id, op_name FROM calls
      JOIN projects USING (project_key) JOIN ops USING (op_key)`
    expect(db.prepare(named).raw().all()).toEqual([['a', PROJECT, 'predict']])
  })

  it('calls are found by the ids of their end, start and name in any order', async () => {
    const store = openSqliteStore({ dataDir: ':memory:', ingestQueueMax: 1000 })
    onTestFinished(() => store.close())
    for (const id of [UUID, UUID.toUpperCase(), TRACE, SPAN]) {
      const ids = { id, trace_id: TRACE, parent_id: SPAN, thread_id: UUID, turn_id: id }
      await store.calls.renameCall({ project_id: PROJECT, id, display_name: 'named' })
      await store.calls.endCall(endOf({ id }))
      const start = startOf(ids)
      await store.calls.startCall(start)
      await store.calls.startCall(start)
      await expect(store.calls.findCall(PROJECT, id)).resolves.toMatchObject({
        ...ids,
        op_name: 'predict',
        display_name: 'named',
      })
    }
  })
})

describe('a new database', () => {
  it('a new database can return freed pages to the file system', () => {
    const db = open(makeTempDir())
    migrate(db)
    expect(db.pragma('auto_vacuum', { simple: true })).toBe(2)
  })
})
