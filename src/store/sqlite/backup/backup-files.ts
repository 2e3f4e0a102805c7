/** Checks the copied database, then copies and checks the files that its rows name. */
import { createHash } from 'node:crypto'
import { constants, createReadStream } from 'node:fs'
import { copyFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { createBytesDigest } from '../../../domain/objects/digests.ts'
import type { MissingFiles } from '../../api/health.ts'
import { type AppliedMigration, requireKnown } from '../../base/db/migration-files.ts'
import { readMigrations } from '../db/migrate.ts'
import { SELECT_MIGRATIONS } from '../db/migrations.sql.ts'
import * as SQL from './backup-files.sql.ts'

/** A file that a row names. */
interface NamedFile {
  /** Relative to the data directory. */
  readonly path: string
  readonly bytes: number
  readonly digest: string
  readonly kind: keyof MissingFiles
}

/** The result for a file: copied, missing in the source, or copied with other content than its row says. */
export type FileOutcome = 'whole' | 'missing' | 'damaged'

/**
 * Checks a copied database without changing it.
 *
 * @returns the files that its rows name
 * @throws Error when it is broken, MigrationError when it has a newer version
 */
export function checkDatabase(path: string): readonly NamedFile[] {
  const db = new Database(path, { fileMustExist: true })
  try {
    const [found] = db.pragma('quick_check(1)') as { quick_check: string }[]
    if (found?.quick_check !== 'ok') {
      throw new Error(`the copy of the database is broken: ${found?.quick_check}`)
    }
    const applied = db.prepare(SELECT_MIGRATIONS).all() as AppliedMigration[]
    requireKnown(applied, readMigrations(), 'the database')
    return db.prepare(SQL.LIST_NAMED_FILES).all() as NamedFile[]
  } finally {
    db.close()
  }
}

/** Copies a file, sharing its blocks if the file system can, and compares the copy with its row. */
export async function bringFile(
  { path, bytes, digest, kind }: NamedFile,
  from: string,
  to: string,
): Promise<FileOutcome> {
  const target = join(to, path)
  try {
    await copyFile(join(from, path), target, constants.COPYFILE_FICLONE)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'missing'
    throw error
  }
  const { size } = await stat(target)
  const isWhole = size === bytes && (await digestOf(target, kind)) === digest
  return isWhole ? 'whole' : 'damaged'
}

async function digestOf(path: string, kind: NamedFile['kind']): Promise<string> {
  const stream = createReadStream(path)
  if (kind === 'files') {
    const hash = createBytesDigest()
    for await (const chunk of stream) hash.update(chunk as Buffer)
    return hash.digest()
  }
  const hash = createHash('sha256')
  for await (const chunk of stream) hash.update(chunk as Buffer)
  return hash.digest('hex')
}
