import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { DATABASE_FILE, openDatabase } from '../../src/store/sqlite/db/connection.ts'
import {
  dumpSchema,
  migrate,
  readMigrations,
  requireMigrated,
} from '../../src/store/sqlite/db/migrate.ts'
import { makeTempDir } from '../support/temp-dir.ts'

function open(dataDir = ':memory:') {
  const db = openDatabase(dataDir)
  onTestFinished(() => void db.close())
  return db
}

function writeMigrations(files: Record<string, string>): string {
  const directory = makeTempDir()
  for (const [name, sql] of Object.entries(files)) writeFileSync(join(directory, name), sql)
  return directory
}

describe('migrate', () => {
  it('the migrations end in the committed schema', async () => {
    const db = open()
    migrate(db)
    await expect(dumpSchema(db)).toMatchFileSnapshot('./schema.sql')
  })

  it('each migration is applied once', () => {
    const db = open()
    expect(migrate(db)).toBe(readMigrations().length)
    expect(migrate(db)).toBe(0)
  })

  it('only new migrations are applied to an older database', () => {
    const db = open()
    migrate(db, writeMigrations({ '0001-a.sql': 'CREATE TABLE a (x)' }))
    const newer = { '0001-a.sql': 'CREATE TABLE a (x)', '0002-b.sql': 'CREATE TABLE b (x)' }
    expect(migrate(db, writeMigrations(newer))).toBe(1)
    expect(dumpSchema(db)).toContain('CREATE TABLE b')
  })

  it('a migration leaves no WAL for the first reads', () => {
    const dataDir = makeTempDir()
    migrate(open(dataDir))
    expect(statSync(join(dataDir, `${DATABASE_FILE}-wal`)).size).toBe(0)
  })

  it('a database of a newer version is refused with the name of the migration', () => {
    const db = open()
    const newer = { '0001-a.sql': 'CREATE TABLE a (x)', '0002-b.sql': 'CREATE TABLE b (x)' }
    migrate(db, writeMigrations(newer))
    const older = writeMigrations({ '0001-a.sql': 'CREATE TABLE a (x)' })
    expect(() => migrate(db, older)).toThrow(/newer version of Weft.*0002-b\.sql/)
  })

  it.each([
    ['a table of the same name', 'CREATE TABLE calls (x)', '"calls"'],
    ['migrations of its own', 'CREATE TABLE migrations (id)', '"migrations"'],
  ])('a database of another program, with %s, is refused and unchanged', (_name, sql, table) => {
    const db = open()
    db.exec(sql)
    const before = dumpSchema(db)
    for (const check of [migrate, requireMigrated]) {
      expect(() => check(db)).toThrow(
        expect.objectContaining({
          name: 'MigrationError',
          message: expect.stringContaining(`not one of Weft: it has a table ${table}`),
        }),
      )
    }
    expect(dumpSchema(db)).toBe(before)
  })

  it('an applied migration that was changed is refused', () => {
    const db = open()
    migrate(db, writeMigrations({ '0001-a.sql': 'CREATE TABLE a (x)' }))
    const changed = writeMigrations({ '0001-a.sql': 'CREATE TABLE a (y)' })
    expect(() => migrate(db, changed)).toThrow(/0001-a\.sql was changed/)
  })

  it('a failing migration is rolled back', () => {
    const db = open()
    const broken = writeMigrations({
      '0001-a.sql': 'CREATE TABLE a (x)',
      '0002-b.sql': 'CREATE TABLE b (x); CREATE TABLE b (x)',
    })
    expect(() => migrate(db, broken)).toThrow()
    expect(dumpSchema(db)).not.toContain('CREATE TABLE a')
  })

  it.each([
    ['in files', [], 1],
    ['in memory where there is no room for files', ['SQLITE_FULL'], 2],
  ])('sorts %s', (_where, failures, expected) => {
    const db = open()
    const codes = [...failures]
    const before = db.pragma('temp_store', { simple: true })
    db.function('sort', (temp_store) => {
      const code = codes.shift()
      if (code !== undefined) throw Object.assign(new Error('no room'), { code })
      return temp_store
    })
    const sql = 'CREATE TABLE a AS SELECT sort(temp_store) AS place FROM pragma_temp_store'
    expect(migrate(db, writeMigrations({ '0001-a.sql': sql }))).toBe(1)
    expect(db.prepare('SELECT place FROM a').pluck().all()).toEqual([expected])
    expect(db.pragma('temp_store', { simple: true })).toBe(before)
  })

  it('a gap in the migration numbers is refused', () => {
    const gap = writeMigrations({ '0001-a.sql': '', '0003-c.sql': '' })
    expect(() => readMigrations(gap)).toThrow(/out of sequence/)
  })
})
