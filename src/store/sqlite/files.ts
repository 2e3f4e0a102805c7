/** Files in SQLite: small ones in their rows, large ones in a folder; the file always comes before the row. */
import { createBytesDigest } from '../../domain/digests.ts'
import { ApiError } from '../../errors.ts'
import type { FileStore, ReceivedFile } from '../api/files.ts'
import type { Connection } from './connection.ts'
import type { FileFolder, FileWriter } from './file-folder.ts'
import type { GroupCommit } from './group-commit.ts'
import * as SQL from './sql/files.ts'
import { toStoreError } from './store-error.ts'

/**
 * Limit: larger files lie in the folder. A row costs its bytes twice, in the log and in the database, and
 * shares its sync with others; a file costs three syncs of its own.
 */
export const ROW_BYTES_MAX = 65_536

interface Received extends ReceivedFile {
  /** The bytes of a small file. */
  readonly content: Buffer | null
  /** The finished file of a large one. */
  readonly writer: FileWriter | null
}

export function createFileStore(
  db: Connection,
  commit: GroupCommit,
  folder: FileFolder,
): FileStore {
  const insertFile = db.prepare(SQL.INSERT_FILE)
  const findFile = db.prepare(SQL.FIND_FILE)
  const sumBytes = db.prepare(SQL.SUM_FILE_BYTES).pluck()
  const received = new WeakMap<ReceivedFile, Received>()

  function find(project_id: string, digest: string) {
    return findFile.get({ project_id, digest }) as
      | { size_bytes: number; content: Buffer | null; path: string | null }
      | undefined
  }

  return {
    async receiveFile(source) {
      const file = await receive(source, folder)
      received.set(file, file)
      return file
    },
    async keepFile(project_id, file) {
      const { digest, size_bytes, content, writer } = received.get(file) as Received
      if (await reading(() => find(project_id, digest))) return
      const path = writer && folder.pathOf(project_id, digest)
      await reading(() => writer?.moveTo(path as string))
      await commit.write(() => insertFile.run({ project_id, digest, size_bytes, content, path }))
    },
    async findFile(project_id, digest) {
      const row = await reading(() => find(project_id, digest))
      if (!row) return null
      const { size_bytes, content, path } = row
      if (path === null) return { size_bytes, content: content as Buffer }
      return { size_bytes, content: await reading(() => folder.openReader(path)) }
    },
    async sumFileBytes(project_id) {
      return reading(() => sumBytes.get({ project_id }) as number)
    },
  }
}

/** Keeps the first bytes in memory; opens a file when there are more than a row takes. */
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
      writer ??= await reading(() => folder.openWriter())
      const bytes = Buffer.concat(chunks)
      const { write } = writer
      await reading(() => write(bytes))
      chunks = []
    }
    await reading(() => writer?.finish())
  } catch (error) {
    await writer?.discard()
    throw error
  }
  const content = writer === null ? Buffer.concat(chunks) : null
  const discard = async () => writer?.discard()
  return { digest: hash.digest(), size_bytes, content, writer, discard }
}

/** Runs what needs the disk; its failures are the store's. */
async function reading<T>(run: () => T | Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    const known = toStoreError(error)
    if (known instanceof ApiError) throw known
    throw new ApiError('store_unavailable', { cause: error, retryAfterS: 5 })
  }
}
