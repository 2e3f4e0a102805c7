/**
 * Payloads of training jobs as files beside the database: they are too large for a row. Nothing here
 * knows of jobs or rows; a file without a row is waste, never a fault.
 */
import { createHash, randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, mkdirSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { type FileHandle, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { ApiError } from '../../../errors.ts'
import type { StagedBody, StagedPayload } from '../../api/training/training-jobs.ts'
import { DataDirectoryError } from '../db/connection.ts'
import { countMissing } from '../files/file-folder.ts'

/** Folder of the payloads in the data directory. */
export const PAYLOADS_DIRECTORY = 'training-payloads'
/** Ends of the names of what is not a payload yet. */
const BODY_SUFFIX = '.body'
const GROUPS_SUFFIX = '.groups'

/** Characters that are encoded and written at a time, so that a large payload does not block others. */
const CHUNK_CHARS = 1_048_576

export interface WrittenPayload {
  /** Relative to the data directory. */
  readonly payload_path: string
  /** SHA-256 of the file, in hex. */
  readonly payload_sha256: string
  readonly payload_bytes: number
}

export interface TrainingPayloads {
  /**
   * Writes a payload. Resolves only after the file and its name in the directory are on the disk.
   *
   * @param id - names the file; never used before
   * @param text - without half surrogate pairs, as every text that came as UTF-8
   * @throws ApiError store_unavailable; then no file is left
   */
  writePayload(id: string, text: string): Promise<WrittenPayload>
  /** Opens a file for a body, beside which its groups may be written. @throws ApiError store_unavailable */
  stageBody(): Promise<StagedBody>
  /**
   * Makes a staged file a payload. Resolves only after its name in the directory is on the disk; its bytes
   * must be there already.
   *
   * @throws ApiError store_unavailable; then nothing was moved
   */
  keepPayload(id: string, staged: StagedPayload): Promise<WrittenPayload>
  /** @throws ApiError store_unavailable when it is not there */
  openPayload(path: string): Promise<Readable>
  /**
   * Removes all files but these payloads. Only for the start, when nothing is on its way.
   *
   * @returns how many of the payloads are not there
   */
  sweep(payloads: ReadonlySet<string>): Promise<number>
  /** Puts an equal payload in the place of one that is gone from the disk, or removes it. Never fails. */
  healPayload(path: string, equalPath: string): Promise<void>
  /** Removes a payload that no row names. Never fails: a file that stays is waste. */
  removePayload(path: string): Promise<void>
  /** Removes the directory when it was a temporary one. */
  close(): void
}

/**
 * Opens the folder, and makes it when it is missing.
 *
 * @param dataDir - a directory, or ':memory:' for a temporary one that ends with the store
 * @throws DataDirectoryError
 */
export function createTrainingPayloads(dataDir: string): TrainingPayloads {
  const isTemporary = dataDir === ':memory:'
  const root = isTemporary ? mkdtempSync(join(tmpdir(), 'weft-payloads-')) : dataDir
  const directory = join(root, PAYLOADS_DIRECTORY)
  makeDurableDirectory(root, directory)

  return {
    async writePayload(id, text) {
      const payload_path = join(PAYLOADS_DIRECTORY, `${id}.json`)
      const path = join(root, payload_path)
      return { payload_path, ...(await onDisk(() => writeFile(directory, path, text))) }
    },
    stageBody: () => onDisk(() => stageBody(join(directory, randomUUID()))),
    async keepPayload(id, { file, sha256, bytes }) {
      const payload_path = join(PAYLOADS_DIRECTORY, `${id}.json`)
      await onDisk(async () => {
        await rename(file, join(root, payload_path))
        await syncDirectory(directory)
      })
      return { payload_path, payload_sha256: sha256, payload_bytes: bytes }
    },
    openPayload: (path) =>
      onDisk(async () => (await open(join(root, path), 'r')).createReadStream()),
    async sweep(wanted) {
      const paths = (await readdir(directory)).map((name) => join(PAYLOADS_DIRECTORY, name))
      const unused = paths.filter((path) => !wanted.has(path))
      for (const path of unused) await removeQuietly(join(root, path))
      return countMissing(wanted, paths)
    },
    async healPayload(path, equalPath) {
      const isThere = (await stat(join(root, path)).catch(() => null)) !== null
      if (!isThere) await rename(join(root, equalPath), join(root, path)).catch(() => undefined)
      await removeQuietly(join(root, equalPath))
      await syncDirectory(directory).catch(() => undefined)
    },
    removePayload: (path) => removeQuietly(join(root, path)),
    close() {
      if (isTemporary) rmSync(root, { recursive: true, force: true })
    },
  }
}

/** Runs what needs the disk; its failures are the store's. */
async function onDisk<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (cause) {
    throw new ApiError('store_unavailable', { cause, retryAfterS: 5 })
  }
}

async function stageBody(path: string): Promise<StagedBody> {
  const file = path + BODY_SUFFIX
  const payloadFile = path + GROUPS_SUFFIX
  const handle = await open(file, 'wx', 0o600)
  return {
    file,
    payloadFile,
    write: (bytes) => onDisk(() => handle.writeFile(bytes)),
    finish: () => onDisk(() => handle.close()),
    async discard() {
      await handle.close().catch(() => undefined)
      await removeQuietly(file)
      await removeQuietly(payloadFile)
    },
  }
}

function makeDurableDirectory(root: string, directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const handle = openSync(root, 'r')
    fsyncSync(handle)
    closeSync(handle)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new DataDirectoryError(`cannot use the data directory ${root}: ${reason}`, cause)
  }
}

/** Writes and syncs a new file; 'wx' so that a payload is never written over. */
async function writeFile(directory: string, path: string, text: string) {
  const handle = await open(path, 'wx', 0o600)
  try {
    const written = await writeChunks(handle, text)
    await handle.sync()
    await syncDirectory(directory)
    return written
  } catch (error) {
    await removeQuietly(path)
    throw error
  } finally {
    await handle.close()
  }
}

async function writeChunks(handle: FileHandle, text: string) {
  const hash = createHash('sha256')
  let payload_bytes = 0
  for (let from = 0; from < text.length; ) {
    const until = endOfChunk(text, from)
    const bytes = Buffer.from(text.slice(from, until), 'utf8')
    hash.update(bytes)
    // Why: a single write may take less than it was given; writeFile goes on until all is written.
    await handle.writeFile(bytes)
    payload_bytes += bytes.length
    from = until
  }
  return { payload_sha256: hash.digest('hex'), payload_bytes }
}

/** The end of the chunk that begins at `from`, never between the halves of a surrogate pair. */
function endOfChunk(text: string, from: number): number {
  const until = Math.min(from + CHUNK_CHARS, text.length)
  const last = text.charCodeAt(until - 1)
  const isHighHalf = last >= 0xd800 && last <= 0xdbff
  return isHighHalf && until < text.length ? until + 1 : until
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function removeQuietly(path: string): Promise<void> {
  await rm(path, { force: true }).catch(() => undefined)
}
