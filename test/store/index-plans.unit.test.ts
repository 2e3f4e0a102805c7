/** Every index serves a statement: one that no plan uses costs each write and gives nothing. */
import { globSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { listEntries } from '../../src/store/base/access/audit.sql.ts'
import { selectItems } from '../../src/store/base/annotation/annotation-queues.sql.ts'
import { selectModels } from '../../src/store/base/models/preview-models.sql.ts'
import { OBJECT_ORDERS } from '../../src/store/base/objects/objects.sql.ts'
import { selectJobs } from '../../src/store/base/training/training-jobs.sql.ts'
import * as CALLS from '../../src/store/sqlite/calls/query/calls-query.sql.ts'
import type { FilterCondition } from '../../src/store/sqlite/calls/query/filter-conditions.sql.ts'
import type { Connection } from '../../src/store/sqlite/db/connection.ts'
import { SQLITE } from '../../src/store/sqlite/db/dialect.sql.ts'
import { FEEDBACK } from '../../src/store/sqlite/feedback/feedback.sql.ts'
import { OBJECTS } from '../../src/store/sqlite/objects/contents.sql.ts'
import * as STATS from '../../src/store/sqlite/stats/stats.sql.ts'
import { QUEUE } from '../../src/store/sqlite/training/training-queue.sql.ts'
import { openMigrated } from './support/migrated-database.ts'

const FILTERS: readonly FilterCondition[][] = [
  [],
  ['op_names'],
  ['input_refs'],
  ['output_refs'],
  ['few_input_refs'],
  ['few_output_refs'],
  ['parent_ids'],
  ['trace_ids'],
  ['call_ids'],
  ['thread_ids'],
  ['turn_ids'],
  ['svc_user_ids'],
  ['svc_run_ids'],
  ['end_user_ids'],
  ['few_end_user_ids'],
  ['trace_roots_only'],
]

/** What is made by functions, in each of its forms. */
const MADE: readonly string[] = [
  ...FILTERS.flatMap((filter) => [
    STATS.selectStatsCalls(filter),
    STATS.selectStatsUsage(filter),
    CALLS.selectCallKeys(filter, 'asc'),
    CALLS.countCalls(filter, false),
    CALLS.countCalls(filter, true),
  ]),
  CALLS.findCallsByKey(new Set(['inputs'])),
  ...(['all', 'id', 'weave_ref'] as const).map((source) => FEEDBACK.selectFeedback(source, 'asc')),
  ...([null, 'svc_user_id', 'action'] as const).flatMap((by) => [
    listEntries(by, 'asc'),
    listEntries(by, 'desc'),
  ]),
  selectItems({ project_id: 'acme/demo', queue_id: 'q' }, SQLITE),
  selectModels('asc', false),
  selectModels('asc', true),
  selectJobs('asc', false),
  selectJobs('asc', true),
  OBJECTS.listObjects([OBJECT_ORDERS.created_at.asc], []),
  ...Object.values({ ...OBJECTS.FIND_VERSIONS }),
  ...Object.values(QUEUE),
]

async function readStatements(): Promise<string[]> {
  const found: string[] = [...MADE]
  for (const path of globSync('src/store/{base,sqlite}/**/*.sql.ts')) {
    const module: Record<string, unknown> = await import(resolve(path))
    for (const value of Object.values(module)) {
      if (typeof value === 'string' && /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\s/.test(value)) {
        found.push(value)
      }
    }
  }
  return found
}

function openSchema(): Connection {
  const db = openMigrated()
  return db
}

/** Those that keep nothing unique. */
function listIndexes(db: Connection): string[] {
  const select = db.prepare(`
    SELECT lists.name
    FROM sqlite_schema AS tables
    CROSS JOIN pragma_index_list(tables.name) AS lists
    WHERE tables.type = 'table' AND lists."unique" = 0
  `)
  return select.pluck().all() as string[]
}

function planOf(db: Connection, sql: string): string {
  const names = [...sql.matchAll(/[@](\w+)/g)].map(([, name]) => [name, '[]'])
  const values = [...sql.replaceAll(/'[^']*'/g, '').matchAll(/\?/g)].map(() => null)
  const explain = db.prepare(`EXPLAIN QUERY PLAN ${sql}`)
  const rows = explain.all(...values, Object.fromEntries(names)) as { detail: string }[]
  return rows.map(({ detail }) => detail).join('\n')
}

describe('the indexes of the schema', () => {
  it('each index of the schema is used by the plan of a statement', async () => {
    const db = openSchema()
    const plans = (await readStatements()).map((sql) => planOf(db, sql)).join('\n')
    const isUsed = (name: string) => new RegExp(`INDEX ${name}\\b`).test(plans)
    expect(plans.length).toBeGreaterThan(1000)
    expect(listIndexes(db).filter((name) => !isUsed(name))).toEqual([])
  })

  it('an unused index is detected', async () => {
    const db = openSchema()
    db.exec('CREATE INDEX calls_svc_run_step ON calls (svc_run_step)')
    const plans = (await readStatements()).map((sql) => planOf(db, sql)).join('\n')
    expect(listIndexes(db)).toContain('calls_svc_run_step')
    expect(plans).not.toContain('calls_svc_run_step')
  })
})
