/**
 * Large files beside the database: received under a temporary name, then moved to the folder of their project.
 * Independent of rows; a file without a row is waste, never a fault.
 */
import { createHash, randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import type { Readable } from 'node:stream'
import type { ByteRange } from '../../../domain/objects/byte-range.ts'
import { unusableDirectory } from '../db/connection.ts'
import { restrictFolder } from './private-files.ts'

/** The folder of uploaded files in the data directory. */
export const FILES_DIRECTORY = 'files'
/** The folder of the weights of checkpoints in the data directory. */
export const ARTIFACTS_DIRECTORY = 'artifacts'
/** The folder of the payloads of training jobs in the data directory. */
export const PAYLOADS_DIRECTORY = 'training-payloads'
const RECEIVED_DIRECTORY = 'received'

/** A file that is being received. */
export interface FileWriter {
  write(bytes: Buffer): Promise<void>
  /** Resolves when all bytes are on the disk. */
  finish(): Promise<void>
  /** Moves a finished file, even one that was moved before; resolves when its new name is on the disk. */
  moveTo(path: string): Promise<void>
  /** Closes the file and removes it if it was not moved. Never fails. */
  discard(): Promise<void>
}

export interface FileFolder {
  /** Returns the path of a project's content, relative to the data directory. */
  pathOf(projectId: string, digest: string): string
  openWriter(): Promise<FileWriter>
  /** Rejects when the file does not exist, before anything is read. @param range - default: all bytes */
  openReader(path: string, range?: ByteRange | null): Promise<Readable>
  /** Removes a file that no row names. Never fails: a leftover file is only waste. */
  remove(path: string): Promise<void>
  /**
   * Removes all unused files and incomplete uploads. Only for the start, when no file is between the folder and its
   * row.
   *
   * @param isUsed - whether a row names the path
   * @param wanted - paths that rows name
   * @returns the number of wanted files that do not exist
   */
  sweep(isUsed: (path: string) => boolean, wanted: ReadonlySet<string>): Promise<number>
  /** Whether a file exists. */
  has(path: string): Promise<boolean>
}

/**
 * Opens the folder, and creates it when it is missing.
 *
 * @param root - the data directory
 * @param directory - its name in the data directory
 * @throws DataDirectoryError
 */
export function openFileFolder(root: string, directory: string): FileFolder {
  const received = join(root, directory, RECEIVED_DIRECTORY)
  try {
    mkdirSync(received, { recursive: true, mode: 0o700 })
    restrictFolder(join(root, directory))
    syncPath(root)
  } catch (cause) {
    throw unusableDirectory(root, cause)
  }

  return {
    pathOf: (projectId, digest) => pathOfContent(directory, projectId, digest),
    openWriter: () => openWriter(root, directory, join(received, randomUUID())),
    async openReader(path, range = null) {
      const handle = await open(join(root, path), 'r')
      return handle.createReadStream(range ? { start: range.from, end: range.until - 1 } : {})
    },
    remove: (path) => removeQuietly(join(root, path)),
    async sweep(isUsed, wanted) {
      // Lists the folder once instead of checking each file.
      const paths = await listFiles(root, directory)
      const unused = paths.filter((path) => !isUsed(path))
      for (const path of unused) await removeQuietly(join(root, path))
      return countMissing(wanted, paths)
    },
    async has(path) {
      return (await stat(join(root, path)).catch(() => null)) !== null
    },
  }
}

async function openWriter(root: string, directory: string, received: string): Promise<FileWriter> {
  const handle: FileHandle = await open(received, 'wx', 0o600)
  let file = received
  return {
    // Why: a single write may be partial; writeFile continues until all bytes are written.
    write: (bytes) => handle.writeFile(bytes),
    async finish() {
      await handle.sync()
      await handle.close()
    },
    async moveTo(path) {
      const target = join(root, path)
      await mkdir(dirname(target), { recursive: true, mode: 0o700 })
      await rename(file, target)
      file = target
      // Syncs the name of the file and of its folder, which may be new.
      for (const folder of new Set([dirname(target), join(root, directory)])) {
        await syncFolder(folder)
      }
    },
    async discard() {
      await handle.close().catch(() => undefined)
      await removeQuietly(received)
    },
  }
}

/** Lists all files of a folder, relative to the root. */
async function listFiles(root: string, directory: string): Promise<string[]> {
  const entries = await readdir(join(root, directory), { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
}

/** Counts the wanted paths that are not among the existing ones. */
function countMissing(wanted: ReadonlySet<string>, paths: readonly string[]): number {
  return wanted.size - paths.filter((path) => wanted.has(path)).length
}

async function removeQuietly(path: string): Promise<void> {
  await rm(path, { force: true }).catch(() => undefined)
}

/** Syncs a file, or a folder, so that its new entries survive a crash. */
export function syncPath(path: string): void {
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

async function syncFolder(directory: string): Promise<void> {
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Returns a path with hexadecimal names, because some file systems ignore case. */
export function pathOfContent(directory: string, projectId: string, digest: string): string {
  return join(directory, hexOf(projectId).slice(0, 32), hexOf(digest))
}

function hexOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
