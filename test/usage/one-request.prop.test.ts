import { describe, expect, it } from 'vitest'
import { openSqliteStore, type SqliteStore } from '../../src/store/sqlite/open.ts'
import { compareHistories } from './support/request-histories.ts'

describe('requests that several calls report', () => {
  it('requests count once in SQLite, whatever comes first, twice, late, years apart, and goes', async () => {
    const differing = await compareHistories({
      open: async () => openSqliteStore({ dataDir: ':memory:', ingestQueueMax: 100 }),
      close: (stores) => (stores as SqliteStore).close(),
      build: async (stores) => void (await (stores as SqliteStore).segments.buildAll()),
      runs: 150,
    })
    // Most of the comparisons differ; a draw without any would prove nothing.
    expect(differing).toBeGreaterThan(30)
  }, 120_000)
})
