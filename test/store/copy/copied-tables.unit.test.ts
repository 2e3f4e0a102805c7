import { describe, expect, it } from 'vitest'
import { COPIED_TABLES } from '../../../src/store/api/copy.ts'
import { openDatabase } from '../../../src/store/sqlite/db/connection.ts'
import { migrate } from '../../../src/store/sqlite/db/migrate.ts'

/** Calls, which are copied apart, what is counted of them, and what only SQLite needs. */
const OF_CALLS = /^(?:calls|call_\w+|ops|projects|refs|ref_paths|stats_\w+|migrations)$/
/** They expire soon, and are made again, as tickets are issued again; positions of calls, and what waits for them, differ between stores. */
const CACHED = /^(?:cached_|export_tickets$|evaluator_(?:feed|tasks)$)/
/** In SQLite they are files, or parts of rows. */
const OF_FILES = ['file_chunks', 'blobs', 'blob_chunks']

describe('tables that are copied', () => {
  it('all SQLite tables except those of calls and caches are copied', () => {
    const db = openDatabase(':memory:')
    try {
      migrate(db)
      const listed =
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
      const names = db.prepare(listed).pluck().all() as string[]
      const rest = names.filter((name) => !OF_CALLS.test(name) && !CACHED.test(name))
      const copied = COPIED_TABLES.map(({ name }) => name)
      expect(copied.toSorted()).toEqual([...rest, ...OF_FILES].sort())
    } finally {
      db.close()
    }
  })
})
