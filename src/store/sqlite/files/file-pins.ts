/** Defers the removal of files while they are copied. */
import type { FileFolder } from './file-folder.ts'

/** Limit: deferred removals. Files beyond it stay until the sweep at the next start. */
const WAITING_MAX = 100_000

export interface FilePins {
  /** Defers all removals from now on. @returns a function that ends this, once, and removes the deferred files */
  begin(): () => Promise<void>
  /** Returns the folder with deferred removals. */
  over(folder: FileFolder): FileFolder
}

export function createFilePins(): FilePins {
  /** Deferred removals by path, which is unique across folders. */
  const waiting = new Map<string, FileFolder>()
  let holders = 0

  return {
    begin() {
      holders += 1
      return async () => {
        holders -= 1
        for (const [path, folder] of waiting) {
          if (holders > 0) return
          waiting.delete(path)
          await folder.remove(path)
        }
      }
    },
    over(folder) {
      return {
        ...folder,
        async remove(path) {
          if (holders === 0) await folder.remove(path)
          else if (waiting.size < WAITING_MAX) waiting.set(path, folder)
        },
        async openWriter() {
          const writer = await folder.openWriter()
          const moveTo = (path: string) => {
            // A row will name it again.
            waiting.delete(path)
            return writer.moveTo(path)
          }
          return { ...writer, moveTo }
        },
      }
    },
  }
}
