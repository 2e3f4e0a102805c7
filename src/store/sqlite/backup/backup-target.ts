/** The target of a backup: written under a temporary name, and renamed when it is complete and on the disk. */
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { DATABASE_FILE } from '../db/connection.ts'
import { LOCK_FILE, lockDataDirectory } from '../db/directory-lock.ts'
import { syncPath } from '../files/file-folder.ts'

/** Space beyond the size of the source, for what is written while the backup runs. */
const SPARE_SHARE = 0.05
const SPARE_BYTES = 64 * 1024 * 1024
const ROOT_UID = 0

/** A target that cannot be used; the message is one line. */
class BackupTargetError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'BackupTargetError'
  }
}

export interface BackupTarget {
  /** The temporary folder, used until the backup is complete. */
  readonly path: string
  readonly databasePath: string
  /** Syncs the database in the background while it is written, so that the final sync is short. */
  syncMeanwhile(): void
  /** Creates the folder of a file, relative to the target. */
  makeFolderOf(file: string): void
  /** Restricts a file to the owner of the source, and syncs it to the disk. */
  settle(file: string): void
  /** Moves the backup to its final path. */
  finish(): void
  /** Removes what was written. */
  discard(): void
}

/**
 * Creates the temporary folder of a backup; removes what a killed backup has left there.
 *
 * @param dataDir - the source; its size determines the space needed
 * @param to - a missing or empty folder in an existing one
 * @throws BackupTargetError; nothing was written then
 */
export function openBackupTarget(dataDir: string, to: string): BackupTarget {
  const place = requirePlace(dataDir, resolve(to))
  requireConstraintSize(dataDir, dirname(place))
  const path = `${place}.partial`
  takePartial(path)
  const { uid, gid } = statSync(dataDir)

  /** Sets mode and owner; as root, the owner is the user of the server, which must be able to write the database. */
  function own(file: string, mode: number): void {
    chmodSync(file, mode)
    if (process.getuid?.() === ROOT_UID) chownSync(file, uid, gid)
  }

  own(path, 0o700)
  const lock = lockDataDirectory(path)
  const databasePath = join(path, DATABASE_FILE)
  closeSync(openSync(databasePath, 'wx', 0o600))
  own(databasePath, 0o600)
  let isSyncing = false
  return {
    path,
    databasePath,
    syncMeanwhile() {
      if (isSyncing) return
      isSyncing = true
      void syncLater(databasePath).then(() => {
        isSyncing = false
      })
    },
    makeFolderOf(file) {
      const folders = dirname(file).split(sep)
      folders.forEach((_, index) => {
        const folder = join(path, ...folders.slice(0, index + 1))
        if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 })
        own(folder, 0o700)
      })
    },
    settle(file) {
      own(join(path, file), 0o600)
      syncPath(join(path, file))
    },
    finish() {
      for (const entry of readdirSync(path, { recursive: true, withFileTypes: true })) {
        if (entry.isDirectory()) syncPath(join(entry.parentPath, entry.name))
      }
      // Without one, a log that a crash left would damage a backup that is copied over its directory.
      const log = `${databasePath}-wal`
      closeSync(openSync(log, 'wx', 0o600))
      own(log, 0o600)
      syncPath(log)
      lock.release()
      rmSync(join(path, LOCK_FILE))
      syncPath(path)
      renameSync(path, place)
      syncPath(dirname(place))
    },
    discard() {
      lock.release()
      rmSync(path, { recursive: true, force: true })
    },
  }
}

/** Checks the target. @returns its real path */
function requirePlace(dataDir: string, to: string): string {
  const parent = dirname(to)
  if (!existsSync(parent)) throw new BackupTargetError(`there is no folder ${parent}`)
  const place = join(realpathSync(parent), basename(to))
  const source = realpathSync(dataDir)
  if (`${place}${sep}`.startsWith(`${source}${sep}`)) {
    throw new BackupTargetError(`${to} is inside the data directory ${dataDir}`)
  }
  const found = statSync(place, { throwIfNoEntry: false })
  if (found === undefined) return place
  if (!found.isDirectory() || readdirSync(place).length > 0) {
    throw new BackupTargetError(`${to} exists and is not an empty folder`)
  }
  if (found.dev !== statSync(parent).dev) {
    throw new BackupTargetError(`${to} is a mount point; name a folder inside it`)
  }
  return place
}

function requireConstraintSize(dataDir: string, parent: string): void {
  const { bavail, bsize } = statfsSync(parent)
  const needed = sizeOf(dataDir) * (1 + SPARE_SHARE) + SPARE_BYTES
  if (bavail * bsize >= needed) return
  const inMb = (bytes: number) => `${Math.ceil(bytes / 1e6)} MB`
  const has = `${parent} has room for ${inMb(bavail * bsize)}`
  throw new BackupTargetError(`${has}, and the backup needs ${inMb(needed)}`)
}

/** Returns the bytes of all files below a folder; files may disappear meanwhile. */
function sizeOf(directory: string): number {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => statSync(join(parentPath, name), { throwIfNoEntry: false }))
    .reduce((sum, found) => sum + (found?.size ?? 0), 0)
}

/** Creates the folder anew. Removes an existing one only if a backup created it and no running backup uses it. */
function takePartial(path: string): void {
  if (existsSync(path)) {
    if (readdirSync(path).length > 0 && !existsSync(join(path, LOCK_FILE))) {
      throw new BackupTargetError(`${path} is in the way and was not created by a backup`)
    }
    const lock = lockDataDirectory(path)
    try {
      rmSync(path, { recursive: true })
    } finally {
      lock.release()
    }
  }
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    throw new BackupTargetError(`cannot write to ${dirname(path)}: ${(error as Error).message}`)
  }
}

/** Never fails: the writer of the file reports errors. */
async function syncLater(path: string): Promise<void> {
  const handle = await open(path, 'r').catch(() => null)
  await handle?.datasync().catch(() => undefined)
  await handle?.close().catch(() => undefined)
}
