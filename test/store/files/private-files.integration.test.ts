import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openFileFolder } from '../../../src/store/sqlite/files/file-folder.ts'
import { openSqliteStores } from '../../../src/store/sqlite/open-locked.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { startOf } from '../calls/call-store-contract.ts'

const listAll = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).map(({ parentPath, name }) =>
    join(parentPath, name),
  )

/** The mode of everything below a folder, in octal. */
function modesIn(folder: string): Record<string, string> {
  const modes = listAll(folder).map((path) => [relative(folder, path), modeOf(path)])
  return Object.fromEntries(modes)
}

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

/** A data directory that its owner made, which others may enter. */
function makeOpenDirectory(): string {
  const dataDir = join(makeTempDir(), 'data')
  mkdirSync(dataDir)
  chmodSync(dataDir, 0o755)
  return dataDir
}

/** Opens the stores, writes a call and a file of its own, and returns the modes of everything. */
async function readModesWhileRunning(dataDir: string, letter: string) {
  const stores = await openSqliteStores({ dataDir, ingestQueueMax: 1000 })
  await stores.calls.startCall(startOf({ project_id: 'acme/demo', id: `call-${letter}` }))
  const file = await stores.files.receiveFile([Buffer.alloc(100_000, letter)] as never)
  await file.keep('acme/demo')
  await file.discard()
  const modes = modesIn(dataDir)
  await stores.close()
  return modes
}

const NAMES = ['weft.db', 'weft.db-wal', 'weft.db-shm', 'weft.lock', 'weft.pid', 'weft.sock']

/** Those that others have rights on. */
const openOf = (modes: Record<string, string>) =>
  Object.entries(modes).filter(([, mode]) => mode !== '600' && mode !== '700')

describe('a data directory of mode 755', () => {
  it('a data directory of mode 755 gets files of mode 600 and folders of mode 700, and keeps its own mode', async () => {
    const dataDir = makeOpenDirectory()
    const modes = await readModesWhileRunning(dataDir, 'a')
    expect(openOf(modes)).toEqual([])
    expect(Object.keys(modes)).toEqual(expect.arrayContaining([...NAMES, 'files']))
    expect(modes['weft.db']).toBe('600')
    expect(modes.files).toBe('700')
    expect(modeOf(dataDir)).toBe('755')
  })

  it('existing files and folders are restricted at the start, except those of other owners', async () => {
    const dataDir = makeOpenDirectory()
    await readModesWhileRunning(dataDir, 'a')
    mkdirSync(join(dataDir, 'of-others'))
    for (const path of listAll(dataDir)) chmodSync(path, statSync(path).isFile() ? 0o644 : 0o755)
    const { 'of-others': others, ...modes } = await readModesWhileRunning(dataDir, 'b')
    expect([openOf(modes), others]).toEqual([[], '755'])
    expect(Object.keys(modes).filter((path) => /^files\/.+\/.+/.test(path))).toHaveLength(2)
  })
})

it('files in a folder of mode 700 are left alone, since others cannot reach them', () => {
  const dataDir = makeOpenDirectory()
  openFileFolder(dataDir, 'files')
  const received = join(dataDir, 'files', 'received')
  chmodSync(received, 0o755)
  openFileFolder(dataDir, 'files')
  expect(modeOf(received)).toBe('755')
  chmodSync(join(dataDir, 'files'), 0o750)
  openFileFolder(dataDir, 'files')
  expect([modeOf(received), modeOf(join(dataDir, 'files'))]).toEqual(['700', '700'])
})
