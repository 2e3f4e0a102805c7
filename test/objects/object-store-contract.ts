/** What every ObjectStore, TableStore and FileStore must do, whatever they store in. */
import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createBytesDigest, digestOfJson, digestOfRows } from '../../src/domain/objects/digests.ts'
import type { NewObject } from '../../src/domain/objects/object-content.ts'
import type { ObjectListing, ObjectStore } from '../../src/store/api/objects/objects.ts'
import type { FileStore, TableRow, TableStore } from '../../src/store/api/objects/tables.ts'
import { readCaller } from '../support/read-caller.ts'

export const PROJECT = 'acme/demo'
const CALLER = readCaller()

export interface ContentStores {
  readonly objects: ObjectStore
  readonly tables: TableStore
  readonly files: FileStore
}

export function newObject(val: unknown, fields: Partial<NewObject> = {}): NewObject {
  const val_json = JSON.stringify(val)
  return {
    project_id: PROJECT,
    object_id: 'thing',
    digest: digestOfJson(val_json),
    val_json,
    kind: 'object',
    base_object_class: null,
    leaf_object_class: null,
    svc_user_id: 'u',
    created_at_us: 1,
    ...fields,
  }
}

function rowOf(value: unknown) {
  const val_json = JSON.stringify(value)
  return { digest: digestOfJson(val_json), val_json }
}

export async function storeTable(
  { tables }: ContentStores,
  values: readonly unknown[],
  project = PROJECT,
) {
  const rows = values.map(rowOf)
  await tables.insertRows(project, rows)
  const rowDigests = rows.map(({ digest }) => digest)
  const digest = digestOfRows(rowDigests)
  await tables.createTable(project, digest, rowDigests)
  const table = await tables.findTable(project, digest)
  if (table === null) throw new Error('the table is not there')
  return { table, rows, rowDigests }
}

export function listing(fields: Partial<ObjectListing> = {}): ObjectListing {
  return {
    project_id: PROJECT,
    filter: {},
    sort_by: [],
    limit: 100,
    offset: 0,
    withContent: true,
    contentBytesMax: 1_000_000,
    ...fields,
  }
}

async function* chunksOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

/** Projects of which nothing is stored: runs of a property share stores, which take longer to open than to ask. */
function freshProjects(): () => string {
  let count = 0
  return () => `acme/run-${count++}`
}

/** @param create - empty stores that close themselves when the test ends */
export function describeContentStoresContract(
  name: string,
  create: () => Promise<ContentStores>,
): void {
  describe(`${name} keeps the ObjectStore contract`, () => {
    it('numbers versions without a gap, whatever comes again, is deleted and comes at once', async () => {
      const step = fc.oneof(
        fc.record({ act: fc.constant('create' as const), content: fc.nat({ max: 4 }) }),
        fc.record({ act: fc.constant('delete' as const), content: fc.nat({ max: 4 }) }),
      )
      const { objects } = await create()
      const nextProject = freshProjects()
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 15 }), async (steps) => {
          const project_id = nextProject()
          const numbers = new Map<number, number>()
          const live = new Set<number>()
          for (const { act, content } of steps) {
            const object = newObject(content, { project_id })
            if (act === 'create') {
              await objects.createObject(object)
              numbers.set(content, numbers.get(content) ?? numbers.size)
              live.add(content)
            } else {
              const deletion = objects.deleteObjects(project_id, 'thing', [object.digest], 9)
              if (live.delete(content)) await expect(deletion).resolves.toHaveLength(1)
              else await expect(deletion).rejects.toMatchObject({ code: 'object_not_found' })
            }
          }
          const last = [...live].sort((a, b) => (numbers.get(b) ?? 0) - (numbers.get(a) ?? 0))[0]
          for (const [content, version_index] of numbers) {
            const found = await objects.findObject(project_id, 'thing', `v${version_index}`)
            expect(found).toMatchObject({
              digest: newObject(content).digest,
              version_index,
              is_latest: content === last ? 1 : 0,
              deleted_at_us: live.has(content) ? null : 9,
            })
            const { digest } = newObject(content)
            expect(await objects.findObject(project_id, 'thing', digest)).toEqual(found)
          }
          const latest = await objects.findObject(project_id, 'thing', 'latest')
          expect(latest?.version_index).toBe(
            last === undefined
              ? numbers.size > 0
                ? numbers.size - 1
                : undefined
              : numbers.get(last),
          )
        }),
        { numRuns: 30 },
      )
    })

    it('gives concurrent versions numbers of their own and one number to equal ones', async () => {
      const { objects } = await create()
      await Promise.all(
        Array.from({ length: 20 }, (_, n) => objects.createObject(newObject(n % 5))),
      )
      const found = await objects.listObjects(listing(), CALLER)
      expect(found.map(({ version }) => version.version_index)).toEqual([0, 1, 2, 3, 4])
    })

    it('publishes on top of the expected latest version alone: of all at once one', async () => {
      const { objects } = await create()
      const publish = (content: unknown, expected_latest: number) =>
        objects.createObject({ ...newObject(content), expected_latest })
      const conflict = { code: 'object_conflict', param: 'obj.expected_latest' }
      await expect(publish('x', 0)).rejects.toMatchObject(conflict)
      for (const expected of [-1, 0, 1]) {
        const all = await Promise.allSettled(
          Array.from({ length: 5 }, (_, n) => publish([expected, n], expected)),
        )
        expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      }
      expect(await objects.listObjects(listing(), CALLER)).toHaveLength(3)
      expect(await objects.findContent(PROJECT, newObject('x').digest)).toBeNull()
      await objects.deleteObjects(PROJECT, 'thing', null, 9)
      await expect(publish('x', 2)).rejects.toMatchObject(conflict)
      await publish('x', -1)
      expect(await objects.findObject(PROJECT, 'thing', 'latest')).toMatchObject({
        version_index: 3,
      })
    })

    it('keeps projects and names apart and gives contents to their own project alone', async () => {
      const { objects } = await create()
      const object = newObject({ a: 1 })
      await objects.createObject(object)
      await objects.createObject({ ...object, object_id: 'twin' })
      expect(await objects.findObject('acme/other', 'thing', 'latest')).toBeNull()
      expect(await objects.findContent('acme/other', object.digest)).toBeNull()
      expect(await objects.findContent(PROJECT, object.digest)).toBe(object.val_json)
      expect(await objects.findObject(PROJECT, 'twin', 'v0')).toMatchObject({ size_bytes: 7 })
    })

    it('has an alias lead to one version, whoever sets it at once, and keeps tags apart', async () => {
      const { objects } = await create()
      const versions = ['v0', 'v1', 'v2']
      for (const n of versions) await objects.createObject(newObject(n))
      const thing = { project_id: PROJECT, object_id: 'thing' }
      await Promise.all(
        versions.flatMap((version) => [
          objects.setAliases({ ...thing, version, names: ['prod'] }),
          objects.addTags({ ...thing, version, names: ['all', `of-${version}`] }),
        ]),
      )
      const found = await objects.listObjects(listing(), CALLER)
      const tags = ['["all","of-v0"]', '["all","of-v1"]', '["all","of-v2"]']
      expect(found.map(({ version }) => version.tags_json)).toEqual(tags)
      const aliases = found.map(({ version }) => version.aliases_json)
      expect(aliases.sort()).toEqual(['["prod"]', '[]', '[]'])
      const other = readCaller({ project_id: 'acme/other' })
      expect(await objects.listTags(CALLER)).toEqual(['all', 'of-v0', 'of-v1', 'of-v2'])
      expect([await objects.listTags(other), await objects.listAliases(other)]).toEqual([[], []])
    })

    it('keeps the text that came first of equal contents', async () => {
      const { objects } = await create()
      const object = newObject({ a: 1 })
      await objects.createObject(object)
      await objects.createObject({ ...object, val_json: '{ "a" : 1 }' })
      expect(await objects.findContent(PROJECT, object.digest)).toBe(object.val_json)
    })

    it('refuses a list of contents above the limit, and none of names alone', async () => {
      const { objects } = await create()
      await objects.createObject(newObject('x'.repeat(100)))
      await objects.createObject(newObject('y'.repeat(100)))
      const limit = { contentBytesMax: 203 }
      await expect(objects.listObjects(listing(limit), CALLER)).rejects.toMatchObject({
        code: 'validation_failed',
        param: 'limit',
      })
      const all = await objects.listObjects(listing({ contentBytesMax: 204 }), CALLER)
      expect(all.map(({ val_json }) => val_json?.length)).toEqual([102, 102])
      const names = await objects.listObjects(listing({ ...limit, withContent: false }), CALLER)
      expect(names.map(({ val_json }) => val_json)).toEqual([null, null])
    })
  })

  describe(`${name} keeps the TableStore contract`, () => {
    const lengths = [0, 1, 1023, 1024, 1025, 3000]

    async function collect(groups: AsyncIterable<TableRow[]>): Promise<TableRow[]> {
      const rows: TableRow[] = []
      for await (const group of groups) rows.push(...group)
      return rows
    }

    it.each(lengths)('gives back %i rows at any places', async (length) => {
      const stores = await create()
      const values = Array.from({ length }, (_, n) => ({ n: n % 700 }))
      const { table, rows, rowDigests } = await storeTable(stores, values)
      const { tables } = stores
      expect(table.row_count).toBe(length)
      expect(table.storage_size_bytes).toBe(
        rows.reduce((sum, { val_json }) => sum + val_json.length, 0),
      )
      expect(await tables.listRowDigests(table)).toEqual(rowDigests)
      const places = Array.from({ length: Math.min(length, 50) }, (_, at) => (at * 997) % length)
      expect(await collect(tables.readRows(table, places))).toEqual(
        places.map((original_index) => ({ ...rows[original_index], original_index })),
      )
    })

    it('finds the places of rows, and rows by digest', async () => {
      const stores = await create()
      const { table, rowDigests } = await storeTable(stores, [1, 2, 1, 3])
      const { rowDigests: others } = await storeTable(stores, [4])
      const wanted = [...rowDigests.slice(2), ...others, 'unknown']
      expect(await stores.tables.findIndexes(table, wanted)).toEqual([0, 2, 3])
      expect(await stores.tables.findIndexes(table, [])).toEqual([])
      const index = await stores.tables.indexRows(table)
      const rows = await Promise.all(rowDigests.map((digest) => index.findRow(digest)))
      expect(rows).toEqual([1, 2, 1, 3].map(rowOf))
      expect(await index.findRow(others[0] ?? '')).toBeNull()
      expect(await index.findRow('unknown')).toBeNull()
    })

    it('refuses rows that the project has not, and stores no table then', async () => {
      const stores = await create()
      const { rowDigests } = await storeTable(stores, [1])
      const [one = ''] = rowDigests
      await expect(stores.tables.createTable(PROJECT, 'd', [one, 'x'])).rejects.toMatchObject({
        code: 'validation_failed',
        param: 'row_digests[1]',
      })
      await expect(stores.tables.createTable('acme/other', 'd', [one])).rejects.toMatchObject({
        param: 'row_digests[0]',
      })
      expect(await stores.tables.findTable(PROJECT, 'd')).toBeNull()
      expect(await stores.tables.findTable('acme/other', 'd')).toBeNull()
    })

    it('sorts as a stable sort of the values does', async () => {
      const value = fc.oneof(
        fc.integer({ min: -3, max: 3 }),
        fc.constantFrom('a', 'b', 'é'),
        fc.boolean(),
        fc.constant(null),
      )
      const sort = fc.constantFrom<'asc' | 'desc'>('asc', 'desc')
      const stores = await create()
      const nextProject = freshProjects()
      await fc.assert(
        fc.asyncProperty(fc.array(value, { maxLength: 12 }), sort, async (values, direction) => {
          const rows = values.map((k) => ({ k }))
          const { table } = await storeTable(stores, rows, nextProject())
          const fields = [{ field: 'k', direction }]
          const places = [...(await stores.tables.sortIndexes(table, fields, CALLER))]
          const sign = direction === 'asc' ? 1 : -1
          // The direction turns the values of a kind, not the kinds.
          const rank = (v: unknown) => ['number', 'string', 'boolean'].indexOf(typeof v)
          const expected = [...values.keys()].sort((left, right) => {
            const [a, b] = [values[left] ?? null, values[right] ?? null]
            if (a === null || b === null) return (a === null ? 1 : 0) - (b === null ? 1 : 0)
            if (rank(a) !== rank(b)) return rank(a) - rank(b)
            return a === b ? 0 : (a < b ? -1 : 1) * sign
          })
          expect(places).toEqual(expected)
        }),
        { numRuns: 25 },
      )
    })
  })

  describe(`${name} keeps the FileStore contract`, () => {
    it.each([
      [0, 1],
      [65_536, 10_000],
      [65_537, 65_537],
      [300_000, 7_001],
    ])('gives back %i bytes that came by %i', async (length, size) => {
      const { files } = await create()
      const bytes = randomBytes(length)
      const received = await files.receiveFile(chunksOf(bytes, size))
      const hash = createBytesDigest()
      hash.update(bytes)
      expect(received).toMatchObject({ digest: hash.digest(), size_bytes: length })
      expect(await files.findFile(PROJECT, received.digest)).toBeNull()
      await received.keep(PROJECT)
      await received.discard()
      const found = await files.findFile(PROJECT, received.digest)
      expect(found?.size_bytes).toBe(length)
      const content = found?.content
      const read = content instanceof Readable ? await buffer(content) : content
      expect(read?.equals(bytes)).toBe(true)
      expect(await files.findFile('acme/other', received.digest)).toBeNull()
    })

    it.each([10, 100_000])(
      'stores %i equal bytes once, when they come at once too',
      async (length) => {
        const { files } = await create()
        const bytes = randomBytes(length)
        await Promise.all(
          Array.from({ length: 5 }, async () => {
            const received = await files.receiveFile(chunksOf(bytes, 4096))
            await received.keep(PROJECT)
            await received.discard()
          }),
        )
        expect(await files.sumFileBytes(PROJECT)).toBe(length)
      },
    )

    it('forgets what is discarded, and what its source breaks off', async () => {
      const { files } = await create()
      const received = await files.receiveFile(chunksOf(randomBytes(100_000), 4096))
      await received.discard()
      await received.discard()
      expect(await files.findFile(PROJECT, received.digest)).toBeNull()
      const broken = (async function* () {
        yield randomBytes(100_000)
        throw new Error('gone')
      })()
      await expect(files.receiveFile(broken)).rejects.toBeDefined()
      expect(await files.sumFileBytes(PROJECT)).toBe(0)
    })
  })
}
