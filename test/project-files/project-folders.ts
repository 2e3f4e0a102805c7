/** Exports and imports in the process of a test, and what their folders hold. */
import { createReadStream, existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { openDeps, openProjectSource } from '../../src/deps.ts'
import { readManifest } from '../../src/project-files/export-folder.ts'
import { exportProject } from '../../src/project-files/export-project.ts'
import { importProject } from '../../src/project-files/import-project.ts'
import type { ExportFormat } from '../../src/project-files/record-kinds.ts'
import type { Stores } from '../../src/store/api/stores.ts'
import {
  borrowDatabase as borrowClickHouse,
  hasClickHouse,
} from '../store/clickhouse/clickhouse-server.ts'
import { borrowDatabase as borrowPostgres, hasPostgres } from '../store/postgres/postgres-server.ts'
import { makeTempDir } from '../support/temp-dir.ts'

export const PROJECT = 'acme/demo'

/** Where a test has its projects: settings as the command takes them. */
export type Settings = Readonly<Record<string, string>>

/** The same tests with all in SQLite, with calls in ClickHouse, and with the rest in PostgreSQL, too. */
export function describeEachPlace(
  name: string,
  tests: (open: () => Promise<Settings>, place: 'sqlite' | 'clickhouse' | 'postgres') => void,
): void {
  const inClickHouse = async () => ({
    ...inSqlite(),
    WEFT_STORE: 'clickhouse',
    WEFT_CLICKHOUSE_URL: await borrowClickHouse(),
  })
  describe(`${name}, in SQLite`, () => tests(async () => inSqlite(), 'sqlite'))
  describe.skipIf(!hasClickHouse)(`${name}, with calls in ClickHouse`, () =>
    tests(inClickHouse, 'clickhouse'),
  )
  describe.skipIf(!hasClickHouse || !hasPostgres)(`${name}, in ClickHouse and PostgreSQL`, () =>
    tests(
      async () => ({ ...(await inClickHouse()), WEFT_META_URL: await borrowPostgres() }),
      'postgres',
    ),
  )
}

export function inSqlite(dataDir = makeTempDir()): Settings {
  return { WEFT_DATA_DIR: dataDir }
}

/** Runs with the stores of the settings. */
export async function withStores(settings: Settings, run: (stores: Stores) => Promise<void>) {
  const stores = await openDeps(readConfig(settings))
  try {
    await run(stores)
  } finally {
    await stores.close()
  }
}

export async function exportTo(settings: Settings, format: ExportFormat = 'jsonl') {
  const folder = join(makeTempDir(), 'export')
  const source = await openProjectSource(readConfig(settings), PROJECT)
  try {
    const exported = await exportProject(source, { folder, format, project_id: PROJECT })
    return { folder, ...exported }
  } finally {
    await source.close()
  }
}

export async function importFrom(folder: string, settings = inSqlite()): Promise<Settings> {
  await withStores(settings, (stores) =>
    importProject(stores, {
      folder,
      manifest: readManifest(folder),
      refScheme: 'weave',
      openFile: (path) =>
        existsSync(join(folder, path)) ? createReadStream(join(folder, path)) : null,
    }),
  )
  return settings
}

const FILE_SIZE = 300_000

async function* bytes(): AsyncGenerator<Buffer> {
  yield Buffer.alloc(FILE_SIZE, 'x')
}

/** Stores feedback and a file, which SQLite stores beside the database, and which has two chunks in PostgreSQL. */
export async function filled(settings = inSqlite()): Promise<Settings> {
  await withStores(settings, async (stores) => {
    const names = { creator: null, annotation_ref: null, runnable_ref: null, call_ref: null }
    await stores.feedback.createFeedback({
      ...names,
      project_id: PROJECT,
      id: 'f1',
      weave_ref: 'weave:///acme/demo/call/a',
      feedback_type: 'quality',
      trigger_ref: null,
      queue_id: null,
      svc_user_id: 'u',
      created_at_us: 1_800_000_000_000_001,
      payload_json: '{"n":1.10}',
      scores_json: null,
    })
    const file = await stores.files.receiveFile(bytes())
    await file.keep(PROJECT)
  })
  return settings
}

/** All files by path, a character for each byte, with the lines of objects sorted. */
export function contentsOf(folder: string): Record<string, string> {
  const paths = globSync('**', { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  const contents = Object.fromEntries(
    paths.sort().map((path) => [path.slice(folder.length), readFileSync(path, 'latin1')]),
  )
  const objects = contents['/objects.jsonl']
  if (objects === undefined) return contents
  // An import writes different objects at once, which PostgreSQL may store in any order.
  return { ...contents, '/objects.jsonl': objects.split('\n').sort().join('\n') }
}
