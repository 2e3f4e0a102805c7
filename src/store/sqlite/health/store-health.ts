/**
 * Checks by trying whether the database can be read and written now. The write goes through the queue of all writes to
 * the disk; the read goes to the file, not to the cache of an open connection.
 */
import { stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { SqliteError } from 'better-sqlite3'
import { ApiError } from '../../../errors.ts'
import type { MissingFiles, StoreHealth, StoreState } from '../../api/health.ts'
import { createCachedCheck } from '../../base/health/combined-health.ts'
import { type Connection, openReadOnlyDatabase } from '../db/connection.ts'
import { DATABASE_MOVED, MOVED_REMEDY } from '../db/database-path.ts'
import type { FileFolder } from '../files/file-folder.ts'
import { READ_NEWEST } from './store-health.sql.ts'

/** Limit: a write that takes longer counts as failed. */
const WRITE_MS_MAX = 2000
/** Bytes of a file written beside the database: on a full disk, the log may still have allocated pages to reuse. */
const FILE_BYTES = 65_536

interface StoreHealthParts {
  /** The database file; null in memory. */
  readonly path: string | null
  /** Writes through the queue of all writes. */
  readonly write: () => Promise<unknown>
  readonly folder: FileFolder
  readonly missing: () => MissingFiles
}

export function createStoreHealth(parts: StoreHealthParts): StoreHealth & { close(): void } {
  const { path, write, folder, missing } = parts
  let db: Connection | null = null
  let isClosed = false

  async function tryRead(): Promise<void> {
    if (path === null) return
    try {
      // An open handle can still read a removed file, so check that the file exists.
      await stat(path)
      if (isClosed) return
      db ??= openReadOnlyDatabase(path)
      for (const sql of READ_NEWEST) db.prepare(sql).get()
      db.pragma('shrink_memory')
    } catch (error) {
      db?.close()
      db = null
      throw error
    }
  }

  async function tryWrite(): Promise<void> {
    const late = Object.assign(new Error('a write timed out'), { code: 'ETIMEDOUT' })
    try {
      const first = await Promise.race([write(), sleep(WRITE_MS_MAX, late, { ref: false })])
      if (first === late) throw late
    } catch (error) {
      // A full queue is reported by its own 503; the store itself works.
      if (!(error instanceof ApiError && error.code === 'server_overloaded')) throw error
    }
  }

  async function tryFile(): Promise<void> {
    const writer = await folder.openWriter()
    try {
      await writer.write(Buffer.alloc(FILE_BYTES))
    } finally {
      await writer.discard()
    }
  }

  async function check(): Promise<StoreState> {
    const names = ['reads fail', 'writes fail', 'files cannot be written']
    const tried = await Promise.allSettled([tryRead(), tryWrite(), tryFile()])
    const failed = tried.flatMap((result, at) =>
      result.status === 'rejected' ? [{ name: names[at], error: result.reason as unknown }] : [],
    )
    return {
      failing: failed.map(({ name, error }) => `${name}: ${describe(error)}`),
      cause: failed[0]?.error,
      missing: missing(),
    }
  }

  const checkOpen = createCachedCheck(check)
  return {
    async checkStore() {
      if (isClosed) return { failing: ['it is closed'], cause: undefined, missing: missing() }
      return checkOpen()
    },
    close() {
      isClosed = true
      db?.close()
      db = null
    },
  }
}

const WORDS: readonly (readonly [RegExp, string])[] = [
  // SHMSIZE: the index of the log cannot grow.
  [/SQLITE_(?:FULL|IOERR_SHMSIZE)|ENOSPC|EDQUOT|EFBIG/, 'the disk is full'],
  [/SQLITE_(?:CORRUPT|NOTADB)/, 'the database is damaged'],
  [/SQLITE_READONLY|EROFS|EACCES|EPERM/, 'the data directory cannot be written'],
  [new RegExp(DATABASE_MOVED), `the data directory was moved or replaced; ${MOVED_REMEDY}`],
  [/SQLITE_CANTOPEN|ENOENT/, 'the data directory is gone'],
  [/SQLITE_(?:BUSY|LOCKED)/, 'another process holds the database'],
  [/SQLITE_IOERR|EIO/, 'the disk fails'],
  [/ETIMEDOUT/, 'the disk is too slow'],
]

/** Describes an error without paths. */
function describe(error: unknown): string {
  const texts: string[] = []
  for (let at = error; at instanceof Error && texts.length < 5; at = at.cause) {
    const { code } = at as { code?: unknown }
    texts.push(at instanceof SqliteError ? at.code : String(code ?? ''), at.message)
  }
  const text = texts.join(' ')
  return WORDS.find(([pattern]) => pattern.test(text))?.[1] ?? 'the log says why'
}
