import { describe, expect, it } from 'vitest'
import { createThreadList } from '../../src/domain/threads/thread-list.ts'
import { resolveThreadListing } from '../../src/domain/threads/thread-sums.ts'
import type { Connection } from '../../src/store/sqlite/db/connection.ts'
import { findNewestThreads, listThreads } from '../../src/store/sqlite/threads/thread-list.ts'
import { openMigrated } from '../store/support/migrated-database.ts'

const project_id = 'acme/demo'

describe('a list of threads', () => {
  it('holds no more of very many than its page needs', () => {
    const list = createThreadList(resolveThreadListing({ project_id, limit: 2, offset: 1 }))
    const count = 300_000
    for (let index = 0; index < count; index++) {
      // In no order of time.
      const started_at_us = (index * 7919) % count
      list.add(`t${index}`, { id: 'a', started_at_us, ended_at_us: null })
    }
    expect(list.page().map(({ last_updated }) => last_updated)).toEqual([count - 2, count - 3])
  })
})

/** One thread with as many turns of late, and one with a turn long before. */
function fill(turns: number): Connection {
  const db = openMigrated()
  db.exec(`
    INSERT INTO projects (project_id) VALUES ('${project_id}');
    WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${turns})
    INSERT INTO calls (project_key, id, thread_id, turn_id, started_at_us)
    SELECT 1, 'c' || n, iif(n = 0, 'old', 'busy'), 'c' || n, n FROM numbers;
  `)
  return db
}

/** The list, and the parts that it was made in. */
function run(db: Connection, fields: object) {
  const job = listThreads(db, resolveThreadListing({ project_id, ...fields }), () => true)
  if (Array.isArray(job)) throw new Error('the job cannot pause')
  for (let parts = 1; ; parts++) {
    const { done, value } = job.next()
    if (done)
      return { parts, threads: value.map((thread) => [thread.thread_id, thread.turn_count]) }
  }
}

describe('the threads that were updated last', () => {
  it('are found among the newest turns, or by a walk over all threads where these do not tell', () => {
    const db = fill(40_000)
    const find = (limit: number) => {
      const listing = resolveThreadListing({ project_id, limit })
      const newest = findNewestThreads(db, listing)
      return newest && [newest.threads.map(({ place }) => place), newest.othersUpdated]
    }
    expect(find(1)).toEqual([['busy'], 40_000 - 4095])
    expect(find(2)).toBe(null)
    const both = [
      ['busy', 40_000],
      ['old', 1],
    ]
    expect(run(db, { limit: 2 }).threads).toEqual(both)
    // No thread is summed up before the walk.
    const walk = { limit: 2, sort_by: [{ field: 'last_updated', direction: 'asc' }] }
    expect(run(db, { limit: 2 }).parts).toBe(run(db, walk).parts)
    // Both threads began before.
    const filter = { after_datetime: '1970-01-01T00:00:00.000002Z' }
    expect(run(db, { limit: 1, filter }).threads).toEqual([])
    expect(run(db, { limit: 1 }).threads).toEqual(both.slice(0, 1))
    expect(run(db, { limit: 1, offset: 1 }).threads).toEqual(both.slice(1))
  })

  it('pause between threads and in a long one', () => {
    const db = fill(10_000)
    expect(run(db, { limit: 1 })).toEqual({ parts: 4, threads: [['busy', 10_000]] })
    expect(run(db, { limit: 2 })).toEqual({
      parts: 5,
      threads: [
        ['busy', 10_000],
        ['old', 1],
      ],
    })
  })
})
