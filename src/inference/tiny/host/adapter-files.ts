/**
 * Stores recently used adapters as files that the model's processes read. A file in use by a request is kept until the
 * request has ended.
 */
import { randomUUID } from 'node:crypto'
import { createWriteStream, rmSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { ApiError } from '../../../errors.ts'
import type { Adapter } from '../../backend.ts'

/** Limit: files that are kept beside those in use. */
const KEPT_MAX = 8
/** Limit: a larger adapter belongs to no model that this engine can run. */
export const ADAPTER_BYTES_MAX = 268_435_456

type Reading<T> = (path: string | null) => AsyncGenerator<T, void, void>

interface AdapterFiles {
  /**
   * Runs something that reads an adapter's file; null: without one.
   *
   * @throws ApiError model_not_found when the adapter is gone, checkpoint_unusable when it is too large; and what
   * opening it and `run` throw
   */
  use<T>(adapter: Adapter | null | undefined, run: Reading<T>): AsyncGenerator<T, void, void>
  /** Removes the files. */
  close(): void
}

interface KeptFile {
  readonly path: string
  readonly written: Promise<void>
  users: number
}

export function createAdapterFiles(): AdapterFiles {
  const directory = join(tmpdir(), `weft-adapters-${randomUUID()}`)
  /** By digest, least recently used first. */
  const kept = new Map<string, KeptFile>()

  function take(adapter: Adapter): KeptFile {
    const { sha256 } = adapter
    const path = join(directory, randomUUID())
    const file = kept.get(sha256) ?? { path, written: write(adapter, path), users: 0 }
    kept.delete(sha256)
    kept.set(sha256, file)
    file.users += 1
    return file
  }

  async function write(adapter: Adapter, path: string): Promise<void> {
    if (adapter.bytes > ADAPTER_BYTES_MAX) throw tooLarge()
    const source = await adapter.open().catch((cause) => {
      const isGone = cause instanceof ApiError && cause.code === 'checkpoint_not_found'
      throw isGone ? new ApiError('model_not_found', { param: 'model', cause }) : cause
    })
    await mkdir(directory, { recursive: true, mode: 0o700 })
    await pipeline(source, createWriteStream(path, { mode: 0o600 }))
  }

  async function remove(sha256: string, file: KeptFile): Promise<void> {
    if (kept.get(sha256) === file) kept.delete(sha256)
    await rm(file.path, { force: true })
  }

  async function removeOldest(): Promise<void> {
    for (const [sha256, file] of kept) {
      if (kept.size <= KEPT_MAX) return
      if (file.users === 0) await remove(sha256, file)
    }
  }

  async function* useFile<T>(adapter: Adapter, run: Reading<T>): AsyncGenerator<T, void, void> {
    const file = take(adapter)
    try {
      // A file that could not be written is written again for the next request.
      await file.written.catch(async (error) => {
        await remove(adapter.sha256, file)
        throw error
      })
      yield* run(file.path)
    } finally {
      file.users -= 1
      await removeOldest()
    }
  }

  return {
    use: (adapter, run) => (adapter ? useFile(adapter, run) : run(null)),
    close: () => rmSync(directory, { recursive: true, force: true }),
  }
}

function tooLarge(): ApiError {
  const message = `The weights of the checkpoint cannot be served: the file has more than ${ADAPTER_BYTES_MAX} bytes.`
  return new ApiError('checkpoint_unusable', { param: 'model', message })
}
