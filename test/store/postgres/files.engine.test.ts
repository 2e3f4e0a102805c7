import { describe, expect, it } from 'vitest'
import { connectPostgres } from '../../../src/store/postgres/db/client.ts'
import { openTestStores } from './open-postgres.ts'
import { hasPostgres, makeDatabase } from './postgres-server.ts'

async function* bytesOf(...texts: string[]) {
  for (const text of texts) yield Buffer.from(text)
}

describe.skipIf(!hasPostgres)('files in PostgreSQL', () => {
  it('files abandoned by their receiver are removed a day later, and no others', async () => {
    const url = await makeDatabase()
    const first = await openTestStores(url)
    const kept = await first.files.receiveFile(bytesOf('kept'))
    await kept.keep('acme/demo')
    const left = await first.files.receiveFile(bytesOf('left'))
    const fresh = await first.files.receiveFile(bytesOf('fresh'))
    const db = connectPostgres({ url, readTimeoutMs: 20_000 })
    try {
      const day = "UPDATE files SET received_at = now() - interval '2 days' WHERE file_key <> 3"
      await db.run(day)
      await openTestStores(url)
      const chunks = () => db.all('SELECT file_key FROM file_chunks ORDER BY file_key')
      await expect.poll(chunks, { timeout: 20_000 }).toEqual([{ file_key: 1 }, { file_key: 3 }])
      await expect(left.keep('acme/demo')).rejects.toMatchObject({ code: 'store_unavailable' })
      await fresh.keep('acme/demo')
      expect((await first.files.findFile('acme/demo', kept.digest))?.size_bytes).toBe(4)
    } finally {
      await db.close()
    }
  })

  it('concurrent uploads of one file are stored once and complete', async () => {
    const url = await makeDatabase()
    const [one, other] = [await openTestStores(url), await openTestStores(url)]
    const files = await Promise.all(
      [one, other].map(({ files }) => files.receiveFile(bytesOf('the ', 'same'))),
    )
    await Promise.all(files.map((file) => file.keep('acme/demo')))
    await Promise.all(files.map((file) => file.discard()))
    const [{ digest = '' } = {}] = files
    const found = await other.files.findFile('acme/demo', digest)
    expect(String(found?.content)).toBe('the same')
    expect(await one.files.sumFileBytes('acme/demo')).toBe(8)
  })
})
