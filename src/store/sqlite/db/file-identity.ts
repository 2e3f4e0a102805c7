/** Identifies files, to check whether a path still leads to the same one. */
import { statSync } from 'node:fs'

/** Returns what no other file of the machine has while this one is open, or null when there is no file. */
export function identifyFile(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? null : `${found.dev}:${found.ino}`
}
