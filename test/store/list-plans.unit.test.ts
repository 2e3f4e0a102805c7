/** Lists seek the rows that they show, in order, so that other rows cost nothing. */
import { describe, expect, it } from 'vitest'
import * as KEYS from '../../src/store/base/access/keys.sql.ts'
import { selectModels } from '../../src/store/base/models/preview-models.sql.ts'
import { OBJECT_ORDERS } from '../../src/store/base/objects/objects.sql.ts'
import { selectJobs } from '../../src/store/base/training/training-jobs.sql.ts'
import * as CALLS from '../../src/store/sqlite/calls/calls.sql.ts'
import { OBJECTS } from '../../src/store/sqlite/objects/contents.sql.ts'
import { QUEUE } from '../../src/store/sqlite/training/training-queue.sql.ts'
import { openMigrated } from './support/migrated-database.ts'

function planOf(sql: string): string {
  const db = openMigrated()
  const names = [...sql.matchAll(/@(\w+)/g)].map(([, name]) => [name, 1])
  const rows = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(Object.fromEntries(names))
  return rows.map((row) => (row as { detail: string }).detail).join('\n')
}

const KEY_PLACE = 'keys_created_at_us ((created_at_us,id)>(?,?))'
const JOB_PLACE = 'training_jobs_state_created_at_us (state=? AND (created_at_us,id)'
const MODEL_PLACE = 'preview_models_name_created_at_us (name=? AND (created_at_us,id)'

describe('lists', () => {
  it.each([
    ['keys', KEYS.LIST_KEYS, KEY_PLACE],
    ['jobs of a status', selectJobs('asc', true), `${JOB_PLACE}>`],
    ['jobs of a status, the newest first', selectJobs('desc', true), `${JOB_PLACE}<`],
    ['models of a name', selectModels('asc', true), `${MODEL_PLACE}>`],
    ['models of a name, the newest first', selectModels('desc', true), `${MODEL_PLACE}<`],
  ])('lists of %s seek by an index and do not sort', (_name, sql, seek) => {
    const plan = planOf(sql)
    expect(plan).toContain(seek)
    expect(plan).not.toContain('TEMP B-TREE')
  })

  it('lists of calls with the sizes of their traces seek each trace', () => {
    const seek = 'calls_project_key_trace_id (project_key=? AND trace_id=?)'
    expect(planOf(CALLS.SUM_TRACE_SIZE)).toContain(seek)
  })

  it('lists of versions seek the latest of an object, not newer deleted ones', () => {
    const order = OBJECT_ORDERS.created_at.asc
    const plan = planOf(OBJECTS.listObjects([order], ['latest_only'])).split('\n')
    const sought = plan.filter((step) => step.startsWith('SEARCH newer'))
    expect(sought).toHaveLength(2)
    for (const step of sought) expect(step).toContain('AND object_id=? AND deleted_at_us=?)')
  })

  it.each([
    ['claimable', QUEUE.LIST_CLAIMABLE_JOBS],
    ['neglected', QUEUE.LIST_NEGLECTED_JOBS],
    ['next', QUEUE.NEXT_WAIT_END],
  ])('lists of %s jobs seek the first job of each model, not later ones', (_name, sql) => {
    const plan = planOf(sql)
    expect(plan).toContain('training_jobs_unfinished (model_id>?)')
    expect(plan).toContain('training_jobs_unfinished (model_id=?)')
    expect(plan).toContain('training_jobs_model_id_seq (model_id=? AND seq=?)')
    expect(plan).not.toContain('training_jobs_state_created_at_us')
  })
})
