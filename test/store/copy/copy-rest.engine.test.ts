import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { COPIED_TABLES, CopyError } from '../../../src/store/api/copy.ts'
import { openPostgresTarget } from '../../../src/store/postgres/copy/copy-target.ts'
import { openSqliteStores } from '../../../src/store/sqlite/open-locked.ts'
import { newObject, PROJECT } from '../../objects/object-store-contract.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { MODEL } from '../../training/store/preview-store-contract.ts'
import { openTestStores } from '../postgres/open-postgres.ts'
import { hasPostgres, makeDatabase } from '../postgres/postgres-server.ts'
import { type Filled, fillDirectory, LEASE, RIGHTS, readStores } from './filled-stores.ts'
import { copy, writing } from './run-copy.ts'

const openNode = (dataDir: string) => openSqliteStores({ dataDir, ingestQueueMax: 1000 })

async function expectMoved(url: string, filled: Filled, told: object) {
  const stores = await openTestStores(url)
  expect(await readStores(stores, filled)).toEqual(told)
  return stores
}

describe.skipIf(!hasPostgres)('a copy of all that is no call in PostgreSQL', () => {
  it('a copy in PostgreSQL reads the same through the same contracts, and can be written to', async () => {
    const { dataDir, filled, told } = await fillDirectory()
    const url = await makeDatabase()
    const { copied, missing } = await copy(dataDir, url)
    expect(missing).toEqual({ files: 0, training_payloads: 0, artifacts: 0 })
    expect(copied.filter(({ rows }) => rows === 0)).toEqual([])
    const stores = await expectMoved(url, filled, told)
    await stores.objects.createObject(newObject({ n: 4 }))
    const next = await stores.objects.findObject(PROJECT, 'thing', 'latest')
    expect(next).toMatchObject({ version_index: 3 })
    const { secret } = await stores.keys.createKey(RIGHTS)
    expect(await stores.keys.findPrincipal(secret)).toMatchObject(RIGHTS)
    const { job } = await stores.trainingQueue.findLeased(LEASE)
    const outcome = { checkpoint_id: 'c2', sha256: job.staged_sha256, metrics: {}, reason: null }
    const checkpoint = await stores.trainingQueue.completeJob(LEASE, outcome)
    expect(checkpoint).toMatchObject({ model_id: MODEL.id, step: 2 })
    // The source is as it was.
    const source = await openNode(dataDir)
    onTestFinished(() => source.close())
    expect(await readStores(source, filled)).toEqual(told)
  })

  it('a copy is refused when PostgreSQL has rows', async () => {
    const { dataDir } = await fillDirectory()
    const url = await makeDatabase()
    await copy(dataDir, url)
    await expect(copy(dataDir, url)).rejects.toThrow(
      'PostgreSQL holds something already (see its table keys): name an empty database',
    )
  })

  it('an interrupted copy leaves the tables empty, and can be repeated', async () => {
    const { dataDir, filled, told } = await fillDirectory()
    const url = await makeDatabase()
    const stores = await openTestStores(url)
    for (const cut of COPIED_TABLES.filter((_, at) => at % 5 === 0)) {
      const kill = writing((table, rows) => {
        if (table.name === cut.name) throw new Error('killed')
        return rows
      })
      await expect(copy(dataDir, url, kill)).rejects.toThrow('killed')
      expect(await stores.keys.listKeys()).toEqual([])
    }
    await copy(dataDir, url)
    await expectMoved(url, filled, told)
  })

  it('a copy is not mixed with concurrent writes of servers', async () => {
    const { dataDir } = await fillDirectory()
    const url = await makeDatabase()
    const stores = await openTestStores(url)
    let written: Promise<unknown> | null = null
    const writeMeanwhile = writing(async (_table, rows) => {
      expect(await stores.prices.listPrices(PROJECT)).toEqual([])
      written ??= stores.keys.createKey(RIGHTS)
      return rows
    })
    await copy(dataDir, url, writeMeanwhile)
    await written
    expect(await stores.keys.listKeys()).toHaveLength(3)
    expect(await stores.prices.listPrices(PROJECT)).not.toEqual([])
  })

  it('a copy is refused while a server uses the source, another copy runs, or there is no source', async () => {
    const dataDir = makeTempDir()
    const url = await makeDatabase()
    await expect(copy(dataDir, url)).rejects.toThrow(/it has no weft\.db$/)
    const server = await openNode(dataDir)
    await expect(copy(dataDir, url)).rejects.toThrow(/is in use by the process \d+$/)
    await server.close()
    const other = await openPostgresTarget(url)
    await other.fill(async () => {
      const busy = 'PostgreSQL is written to by a server or another copy'
      await expect(copy(dataDir, url)).rejects.toThrow(busy)
    })
    await other.close()
    await expect(copy(dataDir, url)).resolves.toMatchObject({ missing: { files: 0 } })
  })

  it('a copy leaves out files missing on the disk and reports their number, so that they can be uploaded again', async () => {
    const { dataDir, filled } = await fillDirectory()
    for (const folder of ['files', 'training-payloads', 'artifacts']) {
      rmSync(join(dataDir, folder), { recursive: true })
    }
    const url = await makeDatabase()
    const { missing } = await copy(dataDir, url)
    expect(missing).toEqual({ files: 1, training_payloads: 4, artifacts: 2 })
    const { files } = await openTestStores(url)
    const found = await Promise.all(filled.files.map((digest) => files.findFile(PROJECT, digest)))
    expect(found.map((file) => file?.size_bytes ?? null)).toEqual([0, 5, null])
  })

  it('a copy reports the row of a text that PostgreSQL cannot store', async () => {
    const dataDir = makeTempDir()
    const server = await openNode(dataDir)
    const { id } = await server.keys.createKey({ ...RIGHTS, svc_username: 'a\0b' })
    await server.close()
    await expect(copy(dataDir, await makeDatabase())).rejects.toThrow(
      `svc_username of the row of keys with id "${id}" has U+0000`,
    )
  })

  it('a copy is rolled back when the copied rows differ from those of the source', async () => {
    const { dataDir } = await fillDirectory()
    const url = await makeDatabase()
    const loseOne = writing(({ name }, rows) => (name === 'prices' ? rows.slice(1) : rows))
    const refused = copy(dataDir, url, loseOne)
    await expect(refused).rejects.toThrow('the rows of prices differ in both')
    await expect(refused).rejects.toBeInstanceOf(CopyError)
    expect(await (await openTestStores(url)).keys.listKeys()).toEqual([])
  })
})
