import { readdirSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { openSqliteStores } from '../../src/store/sqlite/open-locked.ts'
import { makeTempDir } from '../support/temp-dir.ts'

/** Files below a directory that this process has open; none where the system does not tell. */
function openFilesOf(dataDir: string): string[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc/self/fd')
    .map((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`)
      } catch {
        return ''
      }
    })
    .filter((path) => path.startsWith(dataDir))
}

describe('stores that are closed while they are checked', () => {
  it('stores that are closed during their check leave nothing open', async () => {
    const dataDir = makeTempDir()
    const store = await openSqliteStores({ dataDir, ingestQueueMax: 10 })
    const checked = store.checkStore()
    await store.close()
    await checked
    expect(openFilesOf(dataDir)).toEqual([])
  })
})

describe('stores that cannot be opened', () => {
  it('stores leave nothing open when a folder of files cannot be created', async () => {
    const dataDir = makeTempDir()
    writeFileSync(join(dataDir, 'artifacts'), '')
    const opened = openSqliteStores({ dataDir, ingestQueueMax: 10 })
    await expect(opened).rejects.toThrow(`cannot use the data directory ${dataDir}: ENOTDIR`)
    expect(openFilesOf(dataDir)).toEqual([])
  })

  it('stores leave nothing open when the files cannot be compared with their rows', async () => {
    const dataDir = makeTempDir()
    const options = { dataDir, ingestQueueMax: 10 }
    await (await openSqliteStores(options)).close()
    const db = new Database(join(dataDir, 'weft.db'))
    db.exec('DROP TABLE files')
    db.close()
    await expect(openSqliteStores(options)).rejects.toThrow('no such table: files')
    expect(openFilesOf(dataDir)).toEqual([])
  })
})
