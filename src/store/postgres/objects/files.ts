/** Files in PostgreSQL, in chunks, so that processes need no shared disk. */
import { Readable } from 'node:stream'
import type { ByteRange } from '../../../domain/objects/byte-range.ts'
import { createBytesDigest } from '../../../domain/objects/digests.ts'
import { ApiError } from '../../../errors.ts'
import type { FileStore } from '../../api/objects/tables.ts'
import { SUM_FILE_BYTES } from '../../base/objects/tables.sql.ts'
import { CHUNK_BYTES, inChunks } from '../blobs/blobs.ts'
import type { Postgres } from '../db/client.ts'
import * as SQL from './files.sql.ts'

export function createFileStore(db: Postgres): FileStore {
  async function keep(project_id: string, file: Received): Promise<void> {
    const { file_key, digest, size_bytes } = file
    const key = { project_id, digest }
    await db.transaction(async (tx) => {
      await tx.all(SQL.LOCK_FILE, key)
      const changed = await tx.run(SQL.KEEP_FILE, { ...key, file_key, size_bytes })
      if (changed === 0 && (await tx.first(SQL.FIND_FILE, key)) === undefined) {
        // It was left for a day.
        throw new ApiError('store_unavailable', { retryAfterS: 5 })
      }
    })
  }

  async function* readChunks(
    file_key: number,
    { from, until }: ByteRange,
  ): AsyncGenerator<Buffer, void> {
    for (let chunk = Math.floor(from / CHUNK_BYTES); chunk * CHUNK_BYTES < until; chunk++) {
      const row = await db.first<{ content: Buffer }>(SQL.FIND_CHUNK, { file_key, chunk })
      if (row === undefined) throw new ApiError('file_not_found', { param: 'digest' })
      const start = chunk * CHUNK_BYTES
      yield row.content.subarray(Math.max(0, from - start), until - start)
    }
  }

  return {
    async receiveFile(source) {
      const file = await receive(db, source)
      const { file_key, digest, size_bytes } = file
      return {
        digest,
        size_bytes,
        keep: (project_id) => keep(project_id, file),
        discard: () => discard(db, file_key),
      }
    },
    async findFile(project_id, digest, rangeOf = () => null) {
      type Found = { file_key: number; size_bytes: number }
      const row = await db.first<Found>(SQL.FIND_FILE, { project_id, digest })
      if (row === undefined) return null
      const { file_key, size_bytes } = row
      const range = rangeOf(size_bytes)
      const chunks = readChunks(file_key, range ?? { from: 0, until: size_bytes })
      if (size_bytes > CHUNK_BYTES) return { size_bytes, range, content: Readable.from(chunks) }
      return { size_bytes, range, content: (await chunks.next()).value ?? Buffer.alloc(0) }
    },
    async sumFileBytes(project_id) {
      const sum = await db.first<{ bytes: number }>(SUM_FILE_BYTES, { project_id })
      return sum?.bytes ?? 0
    },
  }
}

interface Received {
  readonly file_key: number
  readonly digest: string
  readonly size_bytes: number
}

/** Streams the bytes to the store; an aborted upload is discarded. */
async function receive(db: Postgres, source: AsyncIterable<Buffer>): Promise<Received> {
  const hash = createBytesDigest()
  const begun = await db.first<{ file_key: number }>(SQL.BEGIN_FILE)
  const file_key = begun?.file_key as number
  let size_bytes = 0
  let chunk = 0
  try {
    for await (const content of inChunks(source)) {
      hash.update(content)
      size_bytes += content.length
      await db.run(SQL.INSERT_CHUNK, { file_key, chunk, content })
      chunk += 1
    }
    return { file_key, digest: hash.digest(), size_bytes }
  } catch (error) {
    await discard(db, file_key)
    throw error
  }
}

/** Never fails: leftovers are removed a day later. */
async function discard(db: Postgres, file_key: number): Promise<void> {
  await db.run(SQL.DISCARD_FILE, { file_key }).catch(() => undefined)
}

/** Removes leftovers of dead processes, one by one, because the time of a statement is limited. */
export async function sweepFiles(db: Postgres): Promise<void> {
  const left = await db.all<{ file_key: number }>(SQL.LIST_LEFT_FILES)
  for (const { file_key } of left) await db.run(SQL.DISCARD_FILE, { file_key })
}
