import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { SqliteError } from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { openBackupSource } from '../../src/store/sqlite/backup/backup-source.ts'
import {
  openDatabase,
  requireDatabase,
  unusableDirectory,
} from '../../src/store/sqlite/db/connection.ts'
import { INHERITED } from '../support/inherited.ts'
import { makeTempDir } from '../support/temp-dir.ts'

describe('a data directory that cannot be used', () => {
  it('an unreadable data directory is not reported as without a database', () => {
    const dataDir = makeTempDir()
    // Like the directory of another user, but also for root.
    symlinkSync('weft.db', join(dataDir, 'weft.db'))
    const told = `cannot use the data directory ${dataDir}: ELOOP`
    expect(() => requireDatabase(dataDir)).toThrow(told)
  })

  it('an unusable data directory is reported with the reason that SQLite omits', () => {
    const dataDir = join(makeTempDir(), 'gone')
    const cause = new SqliteError('unable to open database file', 'SQLITE_CANTOPEN')
    const told = `cannot use the data directory ${dataDir}: ENOENT`
    expect(unusableDirectory(dataDir, cause).message).toContain(told)
  })

  it.each(['weft.db', 'weft.db-wal', 'weft.db-shm', 'weft.lock'])(
    'an unusable data directory is reported with %s when that cannot be written',
    (file) => {
      const dataDir = makeTempDir()
      // Like the file of another user, but also for root.
      symlinkSync(file, join(dataDir, file))
      const cause = new SqliteError('attempt to write a readonly database', 'SQLITE_READONLY')
      const told = new RegExp(`ELOOP: .*, access '${join(dataDir, file)}'$`)
      expect(unusableDirectory(dataDir, cause).message).toMatch(told)
    },
  )

  it('a data directory that cannot be created is reported with its parent', () => {
    const parent = join(makeTempDir(), 'parent')
    // Like a read-only file system, but everywhere.
    symlinkSync('parent', parent)
    const told = `ELOOP: too many symbolic links encountered, mkdir '${join(parent, 'a')}'`
    expect(() => openDatabase(join(parent, 'a'))).toThrow(told)
    const file = join(makeTempDir(), 'file')
    writeFileSync(file, '')
    expect(() => openDatabase(join(file, 'a', 'b'))).toThrow(
      `ENOTDIR: not a directory, mkdir '${file}`,
    )
  })

  it('a data directory is created with its parents', () => {
    const dataDir = join(makeTempDir(), 'a', 'b', 'c')
    openDatabase(dataDir).close()
    expect(existsSync(join(dataDir, 'weft.db'))).toBe(true)
  })

  it('a data directory below /proc is refused at once', async () => {
    const env = { ...INHERITED, WEFT_DATA_DIR: '/proc/weft/data' }
    const create = ['src/keys.ts', 'create', '--user', 'me']
    const failed = promisify(execFile)(process.execPath, create, { env, timeout: 10_000 })
    await expect(failed).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/weft: cannot use the data directory \/proc\/weft\/data: E/),
    })
  })

  it('a full disk is reported when SQLite finds no space for the index of its WAL', () => {
    const dataDir = makeTempDir()
    const cause = new SqliteError('disk I/O error', 'SQLITE_IOERR_SHMSIZE')
    const told = `cannot use the data directory ${dataDir}: the disk is full`
    expect(unusableDirectory(dataDir, cause).message).toBe(told)
  })

  it("an unusable data directory is reported with SQLite's message when there is no other reason", () => {
    const dataDir = makeTempDir()
    writeFileSync(join(dataDir, 'weft.db'), '')
    const cause = new SqliteError('attempt to write a readonly database', 'SQLITE_READONLY')
    const told = `cannot use the data directory ${dataDir}: attempt to write a readonly database`
    expect(unusableDirectory(dataDir, cause).message).toBe(told)
  })

  it('a backup reports a source that cannot be opened', async () => {
    const dataDir = makeTempDir()
    // Cannot be opened, as on a read-only file system.
    mkdirSync(join(dataDir, 'weft.db'))
    const source = await openBackupSource(dataDir)
    const copied = source.copyDatabase(join(makeTempDir(), 'copy.db'), () => undefined)
    await expect(copied).rejects.toThrow(`cannot use the data directory ${dataDir}: unable to open`)
    source.close()
  })
})
