import { SqliteError } from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import type { StoredTable } from '../../src/store/api/objects/tables.ts'
import { isLocked } from '../../src/store/sqlite/db/store-error.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'

describe('isLocked', () => {
  it.each([
    ['SQLITE_BUSY', true],
    // Another process repairs the log after a crash.
    ['SQLITE_BUSY_RECOVERY', true],
    ['SQLITE_FULL', false],
  ])('isLocked for %s: %s', (code, expected) => {
    expect(isLocked(new SqliteError('x', code))).toBe(expected)
  })

  it("isLocked is false for errors other than SQLite's", () => {
    expect(isLocked(new Error('SQLITE_BUSY'))).toBe(false)
  })
})

it('reads interrupted by the close of the store end with server_draining', async () => {
  const { tables, close } = openSqliteStore({ dataDir: ':memory:', ingestQueueMax: 100 })
  const digests = Array.from({ length: 60_000 }, (_, at) => `d${at}`)
  await tables.insertRows(
    'acme/demo',
    digests.map((digest) => ({ digest, val_json: '1' })),
  )
  await tables.createTable('acme/demo', 't', digests)
  const table = (await tables.findTable('acme/demo', 't')) as StoredTable
  const reads = [
    tables.listRowDigests(table),
    tables.findIndexes(table, ['d59999']),
    tables.createTable('acme/demo', 'other', digests),
  ]
  void close()
  const ended = await Promise.allSettled(reads)
  const reason = expect.objectContaining({ code: 'server_draining' })
  expect(ended).toEqual(reads.map(() => ({ status: 'rejected', reason })))
})
