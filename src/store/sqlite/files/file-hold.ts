/** Keeps files where they are while somebody copies them. */
import type { FileFolder } from './file-folder.ts'

/** Limit: removals that wait. What is beyond it stays until the sweep of the next start. */
const WAITING_MAX = 100_000

export interface FileHold {
  /** From here on no file is removed. @returns ends it, once; what waited is removed then */
  begin(): () => Promise<void>
  /** A folder whose removals wait. */
  over(folder: FileFolder): FileFolder
}

export function createFileHold(): FileHold {
  /** By path, the folders of which none has the same. */
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
