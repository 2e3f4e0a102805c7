import { describe, expect, it } from 'vitest'
import { parseReadableRef, type ReadableRef } from '../../src/domain/objects/readable-ref.ts'
import { createRefReader } from '../../src/routes/objects/ref-reader.ts'
import type { ObjectStore } from '../../src/store/api/objects/objects.ts'
import type { TableStore } from '../../src/store/api/objects/tables.ts'

const BASE = 'weave:///acme/demo'
const refTo = (path: string) => parseReadableRef(`${BASE}/${path}`) as ReadableRef

/** A reader of objects, and of one table whose rows are all the same. */
function createReader(contents: Readonly<Record<string, unknown>>, rowCount = 0) {
  const objects = {
    findObject: async (_project: string, digest: string) => ({
      digest,
      deleted_at_us: null,
      size_bytes: JSON.stringify(contents[digest]).length,
    }),
    findContent: async (_project: string, digest: string) => JSON.stringify(contents[digest]),
  }
  const tables = {
    findTable: async () => ({ table_key: 1, row_count: rowCount }),
    async *readRows(_table: unknown, places: Iterable<number>) {
      for (const _place of places) yield [{ val_json: '1' }]
    },
  }
  return createRefReader({
    objects: objects as unknown as ObjectStore,
    tables: tables as unknown as TableStore,
    contentBytesMax: 20_000,
    canRead: () => true,
  })
}

const refusal = expect.objectContaining({ code: 'validation_failed', param: 'refs' })

describe('a reader of refs', () => {
  it('refuses to read too many bytes, including objects on the way', async () => {
    const big = 'x'.repeat(12_000)
    const way = `${BASE}/object/second:v0/key/text`
    const read = createReader({ first: { text: big }, second: { text: big }, way })
    expect(await read(refTo('object/first:v0/key/text'))).toBe(big)
    expect(await read(refTo('object/first:v0/key/text'))).toBe(big)
    await expect(read(refTo('object/way:v0/index/0'))).rejects.toEqual(refusal)
  })

  it('reads a table of 10,000 rows as a whole, and refuses a longer one', async () => {
    const ref = refTo(`table/${'a'.repeat(64)}`)
    expect(await createReader({}, 10_000)(ref)).toHaveLength(10_000)
    await expect(createReader({}, 10_001)(ref)).rejects.toEqual(refusal)
  })
})
