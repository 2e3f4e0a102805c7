/** How changes of objects must work in every ObjectStore, and how lists and sums show them. */
import { describe, expect, it } from 'vitest'
import { digestOfJson } from '../../src/domain/objects/digests.ts'
import type { ObjectListing } from '../../src/store/api/objects/objects.ts'
import type { ProjectStore } from '../../src/store/api/projects/projects.ts'
import { readCaller } from '../support/read-caller.ts'
import {
  type ContentStores,
  listing,
  newObject,
  PROJECT,
  storeTable,
} from './object-store-contract.ts'

interface ChangedStores extends ContentStores {
  readonly projects: Pick<ProjectStore, 'sumContents'>
}

const CALLER = readCaller()
const NOT_FOUND = { code: 'object_not_found' }
/** Tags of one version, and aliases of one object. */
const MARKS_MAX = 1000
/** In the order of their bytes, which is not that of code units or of a language. */
const NAMES = ['B', 'a', 'b-1', 'é', '\uffee', '😀']

const namesOf = (count: number) => Array.from({ length: count }, (_, at) => `n${at}`)
const marks = (version: string, names: readonly string[], object_id = 'thing') => ({
  project_id: PROJECT,
  object_id,
  version,
  names,
})

/** Versions as `thing:0` in the order of a list. */
async function listed({ objects }: ContentStores, fields: Partial<ObjectListing>) {
  const found = await objects.listObjects(listing({ withContent: false, ...fields }), CALLER)
  const named = found.map(({ version }) => `${version.object_id}:${version.version_index}`)
  return named.join(' ')
}

type Filter = ObjectListing['filter']
const created = (direction: 'asc' | 'desc') => ({ field: 'created_at', direction }) as const
const byId = (direction: 'asc' | 'desc') => ({ field: 'object_id', direction }) as const
const filtered = (filter: Filter): Partial<ObjectListing> => ({ filter })

/** What is asked of the objects of fillKinds, and the versions that are found. */
const LISTS: readonly (readonly [Partial<ObjectListing>, string])[] = [
  [{}, 'B:0 code:0 thing:0 thing:2 é:0'],
  [{ sort_by: [created('desc')] }, 'é:0 thing:2 thing:0 code:0 B:0'],
  [{ sort_by: [byId('asc')] }, 'B:0 code:0 thing:0 thing:2 é:0'],
  [{ sort_by: [byId('desc'), created('desc')] }, 'é:0 thing:2 thing:0 code:0 B:0'],
  [{ sort_by: [byId('desc')], offset: 1, limit: 2 }, 'thing:0 thing:2'],
  [{ limit: 0 }, ''],
  [filtered({ is_op: true }), 'code:0'],
  [filtered({ is_op: false }), 'B:0 thing:0 thing:2 é:0'],
  [filtered({ latest_only: true }), 'B:0 code:0 thing:2 é:0'],
  [filtered({ object_ids: ['é', 'thing', 'none'] }), 'thing:0 thing:2 é:0'],
  [filtered({ object_ids: [] }), 'B:0 code:0 thing:0 thing:2 é:0'],
  [filtered({ base_object_classes: ['Model', 'none'] }), 'thing:0 thing:2'],
  [filtered({ exclude_base_object_classes: ['Model'] }), 'B:0 code:0 é:0'],
  [filtered({ leaf_object_classes: ['Leaf'] }), 'é:0'],
  [filtered({ tags: ['good', 'none'] }), 'thing:0 é:0'],
  [filtered({ aliases: ['prod'] }), 'thing:0'],
  [filtered({ aliases: ['latest'] }), 'B:0 code:0 thing:2 é:0'],
  [filtered({ aliases: ['latest', 'prod'], is_op: false }), 'B:0 thing:0 thing:2 é:0'],
  [filtered({ aliases: ['prod'], latest_only: true }), ''],
]

async function fillKinds({ objects }: ContentStores): Promise<void> {
  const model = { base_object_class: 'Model', leaf_object_class: 'Small' }
  for (const n of [0, 1, 2]) {
    await objects.createObject(newObject(n, { ...model, created_at_us: 3 }))
  }
  const leaf = { base_object_class: 'Dataset', leaf_object_class: 'Leaf', created_at_us: 4 }
  await objects.createObject(newObject(0, { object_id: 'é', ...leaf }))
  await objects.createObject(newObject('code', { object_id: 'code', kind: 'op', created_at_us: 2 }))
  await objects.createObject(newObject('B', { object_id: 'B', created_at_us: 1 }))
  await objects.createObject(newObject('far', { project_id: 'acme/other' }))
  await objects.deleteObjects(PROJECT, 'thing', ['v1'], 9)
  await objects.addTags(marks('v0', ['good', 'good', 'other']))
  await objects.addTags(marks('latest', ['good'], 'é'))
  await objects.setAliases(marks('v0', ['prod']))
}

/** @param create - empty stores that close themselves when the test ends */
export function describeObjectChangesContract(
  name: string,
  create: () => Promise<ChangedStores>,
): void {
  describe(`${name} keeps the ObjectStore contract of changes`, () => {
    it('lists what filters and orders ask for', async () => {
      const stores = await create()
      await fillKinds(stores)
      for (const [fields, expected] of LISTS) {
        expect([fields, await listed(stores, fields)]).toEqual([fields, expected])
      }
    })

    it('puts tags and aliases on versions and takes them away, up to a limit', async () => {
      const { objects } = await create()
      for (const n of [0, 1]) await objects.createObject(newObject(n))
      const read = async (version: string) => {
        const found = await objects.findObject(PROJECT, 'thing', version)
        return [JSON.parse(found?.tags_json ?? ''), JSON.parse(found?.aliases_json ?? '')]
      }
      await objects.addTags(marks('v0', NAMES.toReversed()))
      await objects.setAliases(marks('latest', NAMES.toReversed()))
      expect(await read('v0')).toEqual([NAMES, []])
      expect(await read('v1')).toEqual([[], NAMES])
      const unmarked = { version_index: 1, tags_json: '[]', aliases_json: '[]' }
      expect(await objects.findObject(PROJECT, 'thing', 'b-1', false)).toMatchObject(unmarked)
      expect([await objects.listTags(CALLER), await objects.listAliases(CALLER)]).toEqual([
        NAMES,
        NAMES,
      ])
      await objects.removeTags(marks('v0', ['a', 'unknown', 'é']))
      await objects.setAliases(marks('v0', ['a']))
      await objects.removeAliases(marks('v0', ['B', 'unknown']))
      expect(await read('v0')).toEqual([['B', 'b-1', '\uffee', '😀'], ['a']])
      expect(await read('v1')).toEqual([[], NAMES.slice(2)])
      const before = [await read('v0'), await read('v1')]
      const many = namesOf(MARKS_MAX - 3)
      const refusal = { code: 'validation_failed' }
      const tagging = objects.addTags(marks('v0', many))
      await expect(tagging).rejects.toMatchObject({ ...refusal, param: 'tags' })
      const naming = objects.setAliases(marks('v0', [...many, 'é']))
      await expect(naming).rejects.toMatchObject({ ...refusal, param: 'aliases' })
      expect([await read('v0'), await read('v1')]).toEqual(before)
      for (const act of [objects.addTags, objects.removeTags, objects.setAliases]) {
        await expect(act(marks('v7', ['x']))).rejects.toMatchObject(NOT_FOUND)
      }
      await objects.deleteObjects(PROJECT, 'thing', ['v0'], 9)
      await expect(objects.addTags(marks('v0', ['x']))).rejects.toMatchObject(NOT_FOUND)
      expect(await objects.listTags(CALLER)).toEqual([])
      expect(await objects.listAliases(CALLER)).toEqual(NAMES.slice(2))
    })

    it('deletes all that are named, each once, or none', async () => {
      const stores = await create()
      const { objects } = stores
      for (const n of [0, 1, 2, 3]) await objects.createObject(newObject(n))
      await objects.setAliases(marks('v1', ['prod']))
      const digest = digestOfJson('3')
      const remove = (names: readonly string[] | null) =>
        objects.deleteObjects(PROJECT, 'thing', names, 9)
      await expect(remove(['v0', 'v9'])).rejects.toMatchObject({
        ...NOT_FOUND,
        param: 'digests[1]',
      })
      expect(await listed(stores, {})).toBe('thing:0 thing:1 thing:2 thing:3')
      const removed = await remove(['latest', 'prod', 'v3', digest, 'latest'])
      expect(removed).toMatchObject([{ version_index: 3, digest }, { version_index: 1 }])
      await expect(remove(['v1'])).rejects.toMatchObject({ ...NOT_FOUND, param: 'digests[0]' })
      const rest = await remove(null)
      expect(rest.map(({ version_index }) => version_index)).toEqual([0, 2])
      await expect(remove(null)).rejects.toMatchObject({ ...NOT_FOUND, param: 'object_id' })
      await objects.createObject(newObject(1, { created_at_us: 7, svc_user_id: 'w' }))
      const again = await objects.findObject(PROJECT, 'thing', 'prod')
      expect(again).toMatchObject({ version_index: 1, created_at_us: 7, svc_user_id: 'w' })
      expect(again).toMatchObject({ is_latest: 1, deleted_at_us: null })
    })

    it('returns the size of the contents of a project', async () => {
      const stores = await create()
      const { projects } = stores
      expect(await projects.sumContents(CALLER)).toEqual({ objects: 0, tables: 0 })
      await fillKinds(stores)
      await storeTable(stores, ['ü', 'x', 'x'])
      // 0, 2, 0, "code" and "B", as bytes of JSON; a row counts as often as a table has it.
      expect(await projects.sumContents(CALLER)).toEqual({ objects: 12, tables: 10 })
      const elsewhere = readCaller({ project_id: 'acme/other' })
      expect(await projects.sumContents(elsewhere)).toEqual({ objects: 5, tables: 0 })
    })
  })
}
