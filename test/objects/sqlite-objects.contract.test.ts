import { randomBytes } from 'node:crypto'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as MARKS from '../../src/store/base/objects/marks.sql.ts'
import * as BASE from '../../src/store/base/objects/objects.sql.ts'
import * as BASE_TABLES from '../../src/store/base/objects/tables.sql.ts'
import { openDatabase } from '../../src/store/sqlite/db/connection.ts'
import { SQLITE } from '../../src/store/sqlite/db/dialect.sql.ts'
import { FILES_DIRECTORY } from '../../src/store/sqlite/files/file-folder.ts'
import * as TABLES from '../../src/store/sqlite/objects/contents.sql.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { openMigrated } from '../store/support/migrated-database.ts'
import { readCaller } from '../support/read-caller.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { describeObjectChangesContract } from './object-changes-contract.ts'
import {
  describeContentStoresContract,
  listing,
  newObject,
  PROJECT,
  storeTable,
} from './object-store-contract.ts'

const OPTIONS = { ingestQueueMax: 1000 }

function open(dataDir: string) {
  const store = openSqliteStore({ ...OPTIONS, dataDir })
  onTestFinished(() => store.close())
  return store
}

describeContentStoresContract('sqlite', async () => open(':memory:'))
describeObjectChangesContract('sqlite', async () => open(':memory:'))

describe('sqlite objects, tables and files', () => {
  it('are there again after a restart, and read by the threads', async () => {
    const dataDir = makeTempDir()
    const first = open(dataDir)
    await first.objects.createObject(newObject({ a: 1 }))
    const { table } = await storeTable(first, [{ k: 1 }, { k: 3 }, { k: 2 }])
    const received = await first.files.receiveFile(Readable.from([randomBytes(100_000)]))
    await received.keep(PROJECT)
    await first.close()
    const second = open(dataDir)
    const [found] = await second.objects.listObjects(listing(), readCaller())
    expect(found).toMatchObject({
      val_json: '{"a":1}',
      version: { version_index: 0, is_latest: 1 },
    })
    const places = await second.tables.sortIndexes(
      table,
      [{ field: 'k', direction: 'desc' }],
      readCaller(),
    )
    expect([...places]).toEqual([1, 2, 0])
    const file = await second.files.findFile(PROJECT, received.digest)
    expect(file?.size_bytes).toBe(100_000)
    if (file?.content instanceof Readable) file.content.destroy()
  })

  it('tell that the store is unavailable when the disk takes no file, and keep small ones', async () => {
    const dataDir = makeTempDir()
    const { files } = open(dataDir)
    rmSync(join(dataDir, FILES_DIRECTORY), { recursive: true })
    const large = files.receiveFile(Readable.from([randomBytes(100_000)]))
    await expect(large).rejects.toMatchObject({ code: 'store_unavailable', retryAfterS: 5 })
    const small = await files.receiveFile(Readable.from([Buffer.from('small')]))
    await small.keep(PROJECT)
    expect((await files.findFile(PROJECT, small.digest))?.size_bytes).toBe(5)
  })

  it('stores a content of objects and rows once per project', async () => {
    const dataDir = makeTempDir()
    const store = open(dataDir)
    await store.objects.createObject(newObject({ a: 1 }))
    await store.objects.createObject(newObject({ a: 1 }, { object_id: 'twin' }))
    await store.objects.createObject(newObject({ a: 1 }, { project_id: 'acme/other' }))
    await storeTable(store, [{ a: 1 }, { a: 1 }])
    await store.close()
    const db = openDatabase(dataDir)
    onTestFinished(() => void db.close())
    const count = db.prepare('SELECT project_id, count(*) AS n FROM json_values GROUP BY 1').all()
    expect(count).toEqual([
      { project_id: 'acme/demo', n: 1 },
      { project_id: 'acme/other', n: 1 },
    ])
  })

  it('responds with file_not_found when the bytes of a file are gone, so that it is sent again', async () => {
    const dataDir = makeTempDir()
    const { files } = open(dataDir)
    const received = await files.receiveFile(Readable.from([randomBytes(100_000)]))
    await received.keep(PROJECT)
    const [folder = ''] = readdirSync(join(dataDir, 'files')).filter((name) => name !== 'received')
    rmSync(join(dataDir, 'files', folder), { recursive: true })
    await expect(files.findFile(PROJECT, received.digest)).rejects.toMatchObject({
      code: 'file_not_found',
    })
  })

  it('refuses a data directory whose folder cannot be made', () => {
    const dataDir = makeTempDir()
    writeFileSync(join(dataDir, 'files'), '')
    expect(() => openSqliteStore({ ...OPTIONS, dataDir })).toThrow(/data directory/)
  })
})

describe('the statements of objects, tables and files', () => {
  const statements = {
    ...BASE,
    ...TABLES.OBJECTS,
    ...MARKS,
    ...BASE_TABLES,
    ...BASE_TABLES.tableStatements(SQLITE),
    ...TABLES,
    ...TABLES.OBJECTS.FIND_VERSIONS,
    PLACE_BY_ALIAS: BASE.FIND_VERSION_KEYS.byAlias,
    LIST_OBJECTS: TABLES.OBJECTS.listObjects([BASE.OBJECT_ORDERS.object_id.asc], []),
  }

  it.each(Object.entries(statements).filter(([, sql]) => typeof sql === 'string'))(
    '%s scans no table',
    (_name, sql) => {
      const db = openMigrated()
      const names = [...String(sql).matchAll(/@(\w+)/g)].map(([, name]) => [name, null])
      const explain = db.prepare(`EXPLAIN QUERY PLAN ${sql}`)
      const plan = String(sql).includes('?')
        ? explain.all(1)
        : explain.all(...(names.length > 0 ? [Object.fromEntries(names)] : []))
      const scans = (plan as { detail: string }[])
        .map(({ detail }) => detail)
        .filter((detail) => /^SCAN (?!\w+ VIRTUAL TABLE|page|\(subquery)/.test(detail))
      expect(scans).toEqual([])
    },
  )

  it.each(['asc', 'desc'] as const)(
    'take the page of the newest versions from an index: %s',
    (to) => {
      const db = openMigrated()
      const sql = TABLES.OBJECTS.listObjects(
        [BASE.OBJECT_ORDERS.created_at[to]],
        ['kind', 'latest_only'],
      )
      const parameters = { project_id: 'p', kind: 'op', limit: 1, offset: 0 }
      const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(parameters) as { detail: string }[]
      const steps = plan.map(({ detail }) => detail)
      const page = steps.slice(0, steps.indexOf('SCAN page')).join()
      expect(page).toContain('objects_project_id_created_at_us')
      expect(page).not.toContain('TEMP B-TREE')
    },
  )
})
