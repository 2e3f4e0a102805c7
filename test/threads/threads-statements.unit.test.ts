import { describe, expect, it } from 'vitest'
import * as PROJECTS from '../../src/store/sqlite/projects/projects.sql.ts'
import * as THREADS from '../../src/store/sqlite/threads/threads.sql.ts'
import { openMigrated } from '../store/support/migrated-database.ts'

describe('the statements of threads and of contents', () => {
  it.each(Object.entries({ ...THREADS, ...PROJECTS }))(
    '%s goes on behind a place by an index alone',
    (_name, sql) => {
      const db = openMigrated()
      const names = [...sql.matchAll(/@(\w+)/g)].map(([, name]) => [name, null])
      const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(Object.fromEntries(names))
      const details = (plan as { detail: string }[]).map(({ detail }) => detail)
      expect(details.filter((detail) => /^SCAN|TEMP B-TREE/.test(detail))).toEqual([])
    },
  )
})
