/** Payloads and weights of training in PostgreSQL, in chunks, each under its own path. */
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { ApiError, bodyTooLarge } from '../../../errors.ts'
import type { Postgres } from '../db/client.ts'
import type { Parameters } from '../db/named-parameters.ts'
import { LOCK_QUEUE } from '../training/training-queue.sql.ts'
import * as SQL from './blobs.sql.ts'

/** Bytes of a chunk, except the last. */
export const CHUNK_BYTES = 262_144

/** Yields the same bytes in chunks, in constant memory; no chunk for no bytes. */
export async function* inChunks(
  source: AsyncIterable<Buffer> | Iterable<Buffer>,
): AsyncGenerator<Buffer, void> {
  let held: Buffer[] = []
  let heldBytes = 0
  for await (const bytes of source) {
    held.push(bytes)
    heldBytes += bytes.length
    if (heldBytes < CHUNK_BYTES) continue
    const all = Buffer.concat(held)
    let from = 0
    for (; all.length - from >= CHUNK_BYTES; from += CHUNK_BYTES) {
      yield all.subarray(from, from + CHUNK_BYTES)
    }
    held = [all.subarray(from)]
    heldBytes = all.length - from
  }
  if (heldBytes > 0) yield Buffer.concat(held)
}

/** Chunks that one statement removes: 64 MiB. */
const REMOVED_CHUNKS = 256

interface ReceivedBlob {
  readonly sha256: string
  readonly bytes: number
}

export interface Blobs {
  /**
   * Streams bytes to the store; an aborted stream leaves nothing.
   *
   * @param path - never used before
   * @throws ApiError request_too_large, store_unavailable, and what the source throws
   */
  receive(
    path: string,
    source: AsyncIterable<Buffer> | Iterable<Buffer>,
    bytesMax: number,
  ): Promise<ReceivedBlob>
  /**
   * @param bytes - expected number: reading fails if there are fewer
   * @returns null, before anything is read, when the path does not exist
   */
  open(path: string, bytes: number): Promise<Readable | null>
  /** Removes those that neither a job nor a checkpoint needs. Never fails: leftovers are removed a day later. */
  removeUnused(paths: readonly (string | null)[]): Promise<void>
  /** Removes everything that nothing has needed for a day. */
  sweep(): Promise<void>
}

export function createBlobs(db: Postgres): Blobs {
  const findChunk = (path: string, chunk: number) =>
    db.first<{ content: Buffer }>(SQL.FIND_CHUNK, { path, chunk })

  async function* readFrom(path: string, first: Buffer, bytes: number) {
    yield first
    for (let chunk = 1; chunk * CHUNK_BYTES < bytes; chunk++) {
      const row = await findChunk(path, chunk)
      // Removed since the first was read.
      if (row === undefined) throw new ApiError('store_unavailable', { retryAfterS: 5 })
      yield row.content
    }
  }

  /**
   * Unneeded bytes are never needed again: paths are never reused. They are chosen while no job moves, since a job may
   * resume from them, and removed in parts, for which others do not wait.
   */
  async function remove(sql: string, parameters: Parameters): Promise<void> {
    const unused = await db.transaction(async (tx) => {
      await tx.all(LOCK_QUEUE)
      return tx.all<{ path: string }>(sql, parameters)
    })
    for (const { path } of unused) {
      const removed = () => db.run(SQL.DELETE_CHUNKS, { path, limit: REMOVED_CHUNKS })
      while ((await removed()) === REMOVED_CHUNKS);
      await db.run(SQL.DELETE_BLOB, { path })
    }
  }

  const blobs: Blobs = {
    async receive(path, source, bytesMax) {
      const hash = createHash('sha256')
      let bytes = 0
      let chunk = 0
      await db.run(SQL.BEGIN_BLOB, { path })
      try {
        for await (const content of inChunks(source)) {
          bytes += content.length
          if (bytes > bytesMax) throw bodyTooLarge(bytesMax)
          hash.update(content)
          await db.run(SQL.INSERT_CHUNK, { path, chunk, content })
          chunk += 1
        }
        // Even an empty file has a chunk, which distinguishes it from a missing one.
        if (chunk === 0) await db.run(SQL.INSERT_CHUNK, { path, chunk, content: Buffer.alloc(0) })
      } catch (error) {
        await blobs.removeUnused([path])
        throw error
      }
      return { sha256: hash.digest('hex'), bytes }
    },
    async open(path, bytes) {
      const first = await findChunk(path, 0)
      return first === undefined ? null : Readable.from(readFrom(path, first.content, bytes))
    },
    async removeUnused(paths) {
      const named = paths.filter((path) => path !== null)
      if (named.length === 0) return
      await remove(SQL.LIST_UNUSED, { paths: named }).catch(() => undefined)
    },
    sweep: () => remove(SQL.LIST_LEFT, {}),
  }
  return blobs
}
