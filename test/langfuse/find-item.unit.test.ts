import { expect, it } from 'vitest'
import type { ReadCaller } from '../../src/domain/access/read-caller.ts'
import type { ObjectVersion } from '../../src/domain/objects/object-view.ts'
import type { DatasetReader } from '../../src/routes/langfuse/dataset-reader.ts'
import { findItem } from '../../src/routes/langfuse/datasets.ts'

const FULL = Array.from({ length: 10_000 }, (_, at) => ({ id: `full-${at}` }))

/** A project with full datasets, and an older one with the item `wanted`. */
function openDatasets(full: number, home: string | null) {
  const searched: string[] = []
  const names = [...Array.from({ length: full }, (_, at) => `full-${at}`), 'old']
  const datasets = {
    homeOf: () => home,
    listDatasets: async () => names.map((object_id) => ({ object_id }) as ObjectVersion),
    readDataset: async (version: ObjectVersion) => ({ version, val: {} }),
    async indexOf({ version }: { version: ObjectVersion }) {
      searched.push(version.object_id)
      return version.object_id === 'old' ? [{ id: 'wanted' }] : FULL
    },
  } as unknown as DatasetReader
  return { datasets, searched }
}

const caller = (signal: AbortSignal): ReadCaller => ({
  keyId: 'k',
  project_id: 'acme/demo',
  signal,
})
const { signal } = new AbortController()

it('an item is searched in the newest 100,000 rows', async () => {
  const { datasets, searched } = openDatasets(9, null)
  const { dataset, at } = await findItem(datasets, 'wanted', caller(signal))
  expect([dataset.version.object_id, at]).toEqual(['old', 0])
  expect(searched).toHaveLength(10)
})

it('an item beyond the newest 100,000 rows is found where it was listed, and nowhere else', async () => {
  const unknown = openDatasets(12, null)
  await expect(findItem(unknown.datasets, 'wanted', caller(signal))).rejects.toMatchObject({
    code: 'object_not_found',
    message: expect.stringContaining('list those of its dataset first'),
  })
  expect(unknown.searched).toHaveLength(10)
  const listed = openDatasets(12, 'old')
  await findItem(listed.datasets, 'wanted', caller(signal))
  expect(listed.searched).toEqual(['old'])
})

it('a search for an item ends with its client', async () => {
  const { datasets, searched } = openDatasets(3, null)
  const search = findItem(datasets, 'wanted', caller(AbortSignal.abort()))
  await expect(search).rejects.toMatchObject({ code: 'client_closed_request' })
  expect(searched).toEqual([])
})
