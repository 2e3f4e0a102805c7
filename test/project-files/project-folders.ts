/** Exports and imports in the process of a test, and what their folders hold. */
import { createReadStream, existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readManifest } from '../../src/project-files/export-folder.ts'
import { exportProject } from '../../src/project-files/export-project.ts'
import { importProject } from '../../src/project-files/import-project.ts'
import type { ExportFormat } from '../../src/project-files/record-kinds.ts'
import type { Stores } from '../../src/store/api/stores.ts'
import { openProjectSource } from '../../src/store/sqlite/export/project-source.ts'
import { openSqliteStores } from '../../src/store/sqlite/open-locked.ts'
import { makeTempDir } from '../support/temp-dir.ts'

export const PROJECT = 'acme/demo'

/** Runs with the stores of a data directory. */
export async function withStores(dataDir: string, run: (stores: Stores) => Promise<void>) {
  const stores = await openSqliteStores({ dataDir, ingestQueueMax: 10_000 })
  try {
    await run(stores)
  } finally {
    await stores.close()
  }
}

export async function exportTo(dataDir: string, format: ExportFormat = 'jsonl') {
  const folder = join(makeTempDir(), 'export')
  const source = openProjectSource(dataDir, PROJECT)
  try {
    const exported = await exportProject(source, { folder, format, project_id: PROJECT })
    return { folder, ...exported }
  } finally {
    source.close()
  }
}

export async function importFrom(folder: string, dataDir = makeTempDir()): Promise<string> {
  await withStores(dataDir, (stores) =>
    importProject(stores, {
      folder,
      manifest: readManifest(folder),
      refScheme: 'weave',
      openFile: (path) =>
        existsSync(join(folder, path)) ? createReadStream(join(folder, path)) : null,
    }),
  )
  return dataDir
}

/** All files by path, as base64. */
export function contentsOf(folder: string): Record<string, string> {
  const paths = globSync('**', { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  return Object.fromEntries(
    paths.sort().map((path) => [path.slice(folder.length), readFileSync(path, 'latin1')]),
  )
}
