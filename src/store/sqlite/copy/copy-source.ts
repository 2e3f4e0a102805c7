/** A data directory as the source of a copy: locked, and changed by nothing but migrations. */
import { statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { CopiedRow, CopySource } from '../../api/copy.ts'
import type { MissingFiles } from '../../api/health.ts'
import {
  type Connection,
  closeDatabase,
  DATABASE_FILE,
  openDatabase,
  openReadOnlyDatabase,
  requireDatabase,
} from '../db/connection.ts'
import { lockDataDirectory } from '../db/directory-lock.ts'
import { migrate } from '../db/migrate.ts'
import { fromBlock } from '../objects/table-reads.ts'
import * as SQL from './copy-source.sql.ts'

/**
 * @param chunkBytes - the size of the chunks in which files are read
 * @throws DirectoryLockedError, DataDirectoryError, MigrationError
 */
export function openSqliteSource(dataDir: string, chunkBytes: number): CopySource {
  requireDatabase(dataDir)
  const lock = lockDataDirectory(dataDir)
  try {
    bringToVersion(dataDir)
    return openLocked(dataDir, chunkBytes, lock.release)
  } catch (error) {
    lock.release()
    throw error
  }
}

function bringToVersion(dataDir: string): void {
  const db = openDatabase(dataDir)
  try {
    migrate(db)
  } finally {
    closeDatabase(db)
  }
}

function openLocked(dataDir: string, chunkBytes: number, release: () => void): CopySource {
  const db = openReadOnlyDatabase(join(dataDir, DATABASE_FILE))
  const { lists, missing } = listCopiedFiles(db, { dataDir, chunkBytes })
  return {
    missing,
    countRows(table) {
      return lists[table.name]?.count ?? (db.prepare(SQL.countRows(table)).pluck().get() as number)
    },
    async *rows(table) {
      const list = lists[table.name]
      if (list !== undefined) return yield* list.rows()
      for (const row of db.prepare(SQL.listRows(table)).iterate()) yield toCopied(row as CopiedRow)
    },
    close() {
      db.close()
      release()
    },
  }
}

/** Keys of contents are copied as numbers, not in the block form of SQLite. */
function toCopied(row: CopiedRow): CopiedRow {
  const { value_keys } = row
  return Buffer.isBuffer(value_keys) ? { ...row, value_keys: fromBlock(value_keys) } : row
}

interface CopiedFilesOptions {
  readonly dataDir: string
  readonly chunkBytes: number
}

/** Rows in key order. */
interface CopiedList {
  readonly count: number
  rows(): AsyncGenerator<CopiedRow, void>
}

/** A file that exists. */
interface CopiedFile {
  /** How its chunks refer to it. */
  readonly name: { readonly file_key: number } | { readonly path: string }
  readonly row: CopiedRow
  readonly chunkCount: number
  read(chunk: number): Promise<Buffer>
}

/** Lists the rows of each table that files are copied to, and counts missing files. */
export function listCopiedFiles(db: Connection, { dataDir, chunkBytes }: CopiedFilesOptions) {
  const missing = { files: 0, training_payloads: 0, artifacts: 0 }
  const findContent = db.prepare(SQL.FIND_CONTENT).pluck()
  const countChunks = (bytes: number) => Math.ceil(bytes / chunkBytes)

  /** Returns the size and reader of a file, or null when it is missing, which is counted. */
  function openOnDisk(path: string, kind: keyof MissingFiles) {
    const file = join(dataDir, path)
    const found = statSync(file, { throwIfNoEntry: false })
    if (found === undefined) {
      missing[kind] += 1
      return null
    }
    return { size: found.size, read: (chunk: number) => readChunk(file, chunk, chunkBytes) }
  }

  function openInRow(file_key: number, size: number) {
    const read = async (chunk: number) => {
      const content = findContent.get({ file_key }) as Buffer
      return content.subarray(chunk * chunkBytes, (chunk + 1) * chunkBytes)
    }
    return { size, read }
  }

  type FileRow = { file_key: number; size_bytes: number; path: string | null }
  const uploaded: CopiedFile[] = []
  for (const { path, ...row } of db.prepare(SQL.LIST_FILES).all() as FileRow[]) {
    const { file_key, size_bytes } = row
    const file = path === null ? openInRow(file_key, size_bytes) : openOnDisk(path, 'files')
    if (file === null) continue
    uploaded.push({ name: { file_key }, row, chunkCount: countChunks(size_bytes), read: file.read })
  }
  type BlobRow = { path: string; kind: keyof MissingFiles }
  const blobs: CopiedFile[] = []
  for (const { path, kind } of db.prepare(SQL.LIST_BLOBS).all() as BlobRow[]) {
    const file = openOnDisk(path, kind)
    if (file === null) continue
    // Even an empty file has a chunk, which tells it from a missing one.
    const chunkCount = Math.max(1, countChunks(file.size))
    blobs.push({ name: { path }, row: { path }, chunkCount, read: file.read })
  }
  const lists: Readonly<Record<string, CopiedList>> = {
    files: toRows(uploaded),
    file_chunks: toChunks(uploaded),
    blobs: toRows(blobs),
    blob_chunks: toChunks(blobs),
  }
  return { lists, missing }
}

function toRows(files: readonly CopiedFile[]): CopiedList {
  return {
    count: files.length,
    async *rows() {
      for (const { row } of files) yield row
    },
  }
}

function toChunks(files: readonly CopiedFile[]): CopiedList {
  return {
    count: files.reduce((sum, { chunkCount }) => sum + chunkCount, 0),
    async *rows() {
      for (const { name, chunkCount, read } of files) {
        for (let chunk = 0; chunk < chunkCount; chunk++) {
          yield { ...name, chunk, content: await read(chunk) }
        }
      }
    },
  }
}

/** Reads a chunk; shorter at the end of the file. */
async function readChunk(file: string, chunk: number, chunkBytes: number): Promise<Buffer> {
  const handle = await open(file, 'r')
  try {
    const bytes = Buffer.alloc(chunkBytes)
    let length = 0
    while (length < chunkBytes) {
      const position = chunk * chunkBytes + length
      const { bytesRead } = await handle.read(bytes, length, chunkBytes - length, position)
      if (bytesRead === 0) break
      length += bytesRead
    }
    return bytes.subarray(0, length)
  } finally {
    await handle.close()
  }
}
