import { expect, it } from 'vitest'
import type { ObjectVersion } from '../../src/domain/objects/object-view.ts'
import { createDatasetReader } from '../../src/routes/langfuse/dataset-reader.ts'
import type { Stores } from '../../src/store/api/stores.ts'

it('the indexes of the 16 tables that were read last stay in memory', async () => {
  const read: string[] = []
  const tables = {
    findTable: async (project_id: string, digest: string) => ({ project_id, digest, row_count: 1 }),
    async *readRows({ digest }: { digest: string }) {
      read.push(digest)
      yield [{ digest, val_json: '{}' }]
    },
  }
  const reader = createDatasetReader({ tables } as unknown as Stores)
  const version = { project_id: 'acme/demo', object_id: 'd' } as ObjectVersion
  const readIndex = (table: string) => reader.indexOf({ version, val: { rows: `table/${table}` } })
  for (let at = 0; at < 16; at++) await readIndex(`t${at}`)
  await readIndex('t0')
  await readIndex('t16')
  expect(read).toHaveLength(17)
  await readIndex('t0')
  expect(read).toHaveLength(17)
  await readIndex('t1')
  expect(read).toHaveLength(18)
})
