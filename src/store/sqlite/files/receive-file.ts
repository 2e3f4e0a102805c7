/** Receives the bytes of a file: counts them, hashes them and syncs them to the disk before it resolves. */
import { createHash } from 'node:crypto'
import { ApiError, bodyTooLarge } from '../../../errors.ts'
import type { FileFolder, FileWriter } from './file-folder.ts'

/** A file whose bytes are on the disk under a temporary name. */
export interface ReceivedBytes {
  readonly sha256: string
  readonly bytes: number
  /** Moves it to its final path, relative to the data directory. @throws ApiError store_unavailable */
  keep(path: string): Promise<void>
  /** Removes the file unless it was stored. Never fails. */
  discard(): Promise<void>
}

/**
 * @param bytesMax - Infinity for no limit
 * @throws ApiError request_too_large, store_unavailable, and what the source throws; no file is left then
 */
export async function receiveBytes(
  source: AsyncIterable<Buffer> | Iterable<Buffer>,
  bytesMax: number,
  folder: FileFolder,
): Promise<ReceivedBytes> {
  const writer = await onDisk(() => folder.openWriter())
  try {
    const { sha256, bytes } = await writeAll(source, bytesMax, writer)
    await onDisk(() => writer.finish())
    return {
      sha256,
      bytes,
      keep: (path) => onDisk(() => writer.moveTo(path)),
      discard: () => writer.discard(),
    }
  } catch (error) {
    await writer.discard()
    throw error
  }
}

async function writeAll(
  source: AsyncIterable<Buffer> | Iterable<Buffer>,
  bytesMax: number,
  writer: FileWriter,
) {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of source) {
    bytes += chunk.length
    if (bytes > bytesMax) throw bodyTooLarge(bytesMax)
    hash.update(chunk)
    await onDisk(() => writer.write(chunk))
  }
  return { sha256: hash.digest('hex'), bytes }
}

/** Runs a disk operation and maps its errors to store_unavailable. */
export async function onDisk<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (cause) {
    throw new ApiError('store_unavailable', { cause, retryAfterS: 5 })
  }
}
