/** Files for a database in memory: they are in memory, too, and so end with the process. */
import { Readable } from 'node:stream'
import { type FileFolder, type FileWriter, pathOfContent } from './file-folder.ts'

/** @param directory - the first part of its paths */
export function createMemoryFolder(directory: string): FileFolder {
  const files = new Map<string, Buffer>()

  function createWriter(): FileWriter {
    const written: Buffer[] = []
    let kept: string | null = null
    return {
      async write(bytes) {
        written.push(Buffer.from(bytes))
      },
      finish: async () => undefined,
      async moveTo(path) {
        const bytes = kept === null ? Buffer.concat(written) : (files.get(kept) as Buffer)
        if (kept !== null) files.delete(kept)
        files.set(path, bytes)
        kept = path
        written.length = 0
      },
      async discard() {
        written.length = 0
      },
    }
  }

  return {
    pathOf: (projectId, digest) => pathOfContent(directory, projectId, digest),
    openWriter: async () => createWriter(),
    async openReader(path, range = null) {
      const bytes = files.get(path)
      if (!bytes) throw new Error(`there is no file ${path}`)
      return Readable.from([bytes.subarray(range?.from, range?.until)])
    },
    async remove(path) {
      files.delete(path)
    },
    async sweep(isUsed, wanted) {
      for (const path of files.keys()) if (!isUsed(path)) files.delete(path)
      return [...wanted].filter((path) => !files.has(path)).length
    },
    has: async (path) => files.has(path),
  }
}
