/**
 * Large files beside the database: received under a name of their own, then moved to where their project
 * keeps them. Knows nothing of rows; a file without a row is waste, never a fault.
 */
import { createHash, randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { DataDirectoryError } from './connection.ts'

/** Folder of the files in the data directory. */
export const FILES_DIRECTORY = 'files'
const RECEIVED_DIRECTORY = 'received'

/** A file that is being received. */
export interface FileWriter {
  write(bytes: Buffer): Promise<void>
  /** Resolves when all bytes are on the disk. */
  finish(): Promise<void>
  /** Moves a finished file; resolves when its new name is on the disk. */
  moveTo(path: string): Promise<void>
  /** Closes and removes what was not moved. Never fails. */
  discard(): Promise<void>
}

export interface FileFolder {
  /** Where a project keeps a content, relative to the data directory. */
  pathOf(projectId: string, digest: string): string
  openWriter(): Promise<FileWriter>
  /** Fails when the file is not there, before anything is read. */
  openReader(path: string): Promise<Readable>
  /** Removes the folder when it was a temporary one. */
  close(): void
}

/**
 * Opens the folder, and makes it when it is missing.
 *
 * @param dataDir - a directory, or ':memory:' for a temporary one that ends with the store
 * @throws DataDirectoryError
 */
export function openFileFolder(dataDir: string): FileFolder {
  const isTemporary = dataDir === ':memory:'
  const root = isTemporary ? mkdtempSync(join(tmpdir(), 'weft-files-')) : dataDir
  const received = join(root, FILES_DIRECTORY, RECEIVED_DIRECTORY)
  try {
    mkdirSync(received, { recursive: true, mode: 0o700 })
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new DataDirectoryError(`cannot use the data directory ${root}: ${reason}`, cause)
  }

  return {
    // Hexadecimal names: some file systems do not tell upper case from lower case.
    pathOf: (projectId, digest) =>
      join(FILES_DIRECTORY, hexOf(projectId).slice(0, 32), hexOf(digest)),
    openWriter: () => openWriter(root, join(received, randomUUID())),
    async openReader(path) {
      const handle = await open(join(root, path), 'r')
      return handle.createReadStream()
    },
    close() {
      if (isTemporary) rmSync(root, { recursive: true, force: true })
    },
  }
}

async function openWriter(root: string, received: string): Promise<FileWriter> {
  const handle: FileHandle = await open(received, 'wx', 0o600)
  return {
    // Why: a single write may take less than it was given; writeFile goes on until all is written.
    write: (bytes) => handle.writeFile(bytes),
    async finish() {
      await handle.sync()
      await handle.close()
    },
    async moveTo(path) {
      const target = join(root, path)
      await mkdir(dirname(target), { recursive: true, mode: 0o700 })
      await rename(received, target)
      // The file's name, and the name of its folder, which may be new.
      await syncDirectory(dirname(target))
      await syncDirectory(join(root, FILES_DIRECTORY))
    },
    async discard() {
      await handle.close().catch(() => undefined)
      await rm(received, { force: true }).catch(() => undefined)
    },
  }
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function hexOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
