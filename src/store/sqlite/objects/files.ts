/** Files in SQLite: small ones in their rows, large ones in a folder. A file is always written before its row. */
import { createBytesDigest } from '../../../domain/objects/digests.ts'
import { ApiError } from '../../../errors.ts'
import type { FileStore } from '../../api/objects/tables.ts'
import { SUM_FILE_BYTES } from '../../base/objects/tables.sql.ts'
import type { Connection } from '../db/connection.ts'
import { orStoreError } from '../db/store-error.ts'
import type { FileFolder, FileWriter } from '../files/file-folder.ts'
import { onDisk } from '../files/receive-file.ts'
import type { Writes } from '../write/writes.ts'
import * as SQL from './contents.sql.ts'

/**
 * Limit: larger files are stored in the folder. A row writes its bytes twice, to the log and to the database, and
 * shares its sync with others; a file needs three syncs of its own.
 */
const ROW_BYTES_MAX = 65_536

/** A completely received file. */
interface Received {
  readonly digest: string
  readonly size_bytes: number
  /** The bytes of a small file. */
  readonly content: Buffer | null
  /** The finished file of a large one. */
  readonly writer: FileWriter | null
}

/** @param db - for reads on this thread */
export function createFileStore(db: Connection, writes: Writes, folder: FileFolder): FileStore {
  const findFile = db.prepare(SQL.FIND_FILE)
  const sumBytes = db.prepare(SUM_FILE_BYTES).pluck()

  function find(project_id: string, digest: string) {
    type FileRow = { size_bytes: number; content: Buffer | null; path: string | null }
    return orStoreError(() => findFile.get({ project_id, digest }) as FileRow | undefined)
  }

  /** Restores a stored file that has gone missing. */
  async function heal(path: string | null, writer: FileWriter | null): Promise<void> {
    if (path === null || writer === null || (await folder.has(path))) return
    await onDisk(() => writer.moveTo(path))
  }

  async function keep(project_id: string, file: Received): Promise<void> {
    const { digest, size_bytes, content, writer } = file
    const known = find(project_id, digest)
    if (known) {
      await heal(known.path, writer)
      return
    }
    const path = writer && folder.pathOf(project_id, digest)
    if (path !== null) await onDisk(async () => writer?.moveTo(path))
    await writes.run('insert_file', { project_id, digest, size_bytes, content, path })
  }

  return {
    async receiveFile(source) {
      const file = await receive(source, folder)
      return {
        digest: file.digest,
        size_bytes: file.size_bytes,
        keep: (project_id) => keep(project_id, file),
        discard: async () => file.writer?.discard(),
      }
    },
    async findFile(project_id, digest, rangeOf = () => null) {
      const row = find(project_id, digest)
      if (!row) return null
      const { size_bytes, content, path } = row
      const range = rangeOf(size_bytes)
      if (path === null) {
        const bytes = content as Buffer
        return { size_bytes, range, content: bytes.subarray(range?.from, range?.until) }
      }
      if (!(await folder.has(path))) {
        const message = 'The content of the file is missing on the server; upload it again.'
        throw new ApiError('file_not_found', { message, param: 'digest' })
      }
      return { size_bytes, range, content: await onDisk(() => folder.openReader(path, range)) }
    },
    async sumFileBytes(project_id) {
      return orStoreError(() => sumBytes.get({ project_id }) as number)
    },
  }
}

/** Keeps the first bytes in memory; opens a file when there are too many for a row. */
async function receive(source: AsyncIterable<Buffer>, folder: FileFolder): Promise<Received> {
  const hash = createBytesDigest()
  let chunks: Buffer[] = []
  let size_bytes = 0
  let writer: FileWriter | null = null
  try {
    for await (const chunk of source) {
      hash.update(chunk)
      size_bytes += chunk.length
      chunks.push(chunk)
      if (size_bytes <= ROW_BYTES_MAX) continue
      writer ??= await onDisk(() => folder.openWriter())
      const bytes = Buffer.concat(chunks)
      const { write } = writer
      await onDisk(() => write(bytes))
      chunks = []
    }
    await onDisk(async () => writer?.finish())
  } catch (error) {
    await writer?.discard()
    throw error
  }
  const content = writer === null ? Buffer.concat(chunks) : null
  return { digest: hash.digest(), size_bytes, content, writer }
}
