/**
 * Keeps the files of the data directory from other users of the machine: files have mode 600, folders 700, whatever
 * the umask and the mode of the data directory, which is its owner's choice.
 */
import { chmodSync, closeSync, openSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The mode bits of everybody but the owner. */
const OTHERS_BITS = 0o077
/** Files that Weft and SQLite make at the top of the data directory. */
const OWN_FILE = /^weft\./

/**
 * Creates an empty file, for SQLite, which would create it with the umask; its log and their index get the same mode.
 * Never opens an existing one: closing it would release the locks of this process. Never fails: the open that follows
 * says what is wrong.
 */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch {
    // It exists, or cannot be created.
  }
}

/** Restricts existing files at the top of the data directory; its folders are restricted when they are opened. */
export function restrictOwnFiles(dataDir: string): void {
  for (const name of readdirSync(dataDir)) {
    if (OWN_FILE.test(name)) restrict(join(dataDir, name))
  }
}

/**
 * Restricts a folder and everything in it, as after a copy by other tools. A folder of mode 700 keeps others from its
 * content, so that is then not visited.
 */
export function restrictFolder(folder: string): void {
  if (!restrict(folder)) return
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() || entry.isDirectory()) restrict(join(entry.parentPath, entry.name))
  }
}

/** Returns whether others had rights. A file system without modes, or of another owner, does not prevent a start. */
function restrict(path: string): boolean {
  try {
    const { mode } = statSync(path)
    if ((mode & OTHERS_BITS) === 0) return false
    chmodSync(path, mode & 0o7700)
    return true
  } catch {
    return false
  }
}
