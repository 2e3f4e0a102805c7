import { describe, expect, it } from 'vitest'
import { SELECT_PRICES } from '../../../src/store/base/prices/prices.sql.ts'
import { FEEDBACK } from '../../../src/store/sqlite/feedback/feedback.sql.ts'
import { SELECT_TRACES_OF_CALLS } from '../../../src/store/sqlite/usage/usage.sql.ts'
import { openMigrated } from '../../store/support/migrated-database.ts'

function planOf(sql: string): string {
  const db = openMigrated()
  const names = [...sql.matchAll(/@(\w+)/g)].map(([, name]) => [name, '[]'])
  const rows = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(Object.fromEntries(names))
  return rows.map((row) => (row as { detail: string }).detail).join('\n')
}

describe('statements over feedback, prices and usage', () => {
  it.each([
    [
      'feedback by id',
      FEEDBACK.selectFeedback('id', 'asc'),
      'feedback_project_id_id (project_id=? AND id=?)',
    ],
    ['stored feedback', FEEDBACK.FIND_FEEDBACK, 'feedback_project_id_id (project_id=? AND id=?)'],
    ['payloads', FEEDBACK.FIND_PAYLOADS, 'INTEGER PRIMARY KEY (rowid=?)'],
    ['scores', FEEDBACK.FIND_SCORES, 'INTEGER PRIMARY KEY (rowid=?)'],
    [
      'feedback by ref',
      FEEDBACK.selectFeedback('weave_ref', 'asc'),
      'feedback_project_id_weave_ref_created_at_us (project_id=? AND weave_ref=?',
    ],
    [
      'feedback by type',
      FEEDBACK.selectFeedback('feedback_type', 'desc'),
      'feedback_project_id_feedback_type_trigger_ref_created_at_us_id (project_id=? AND feedback_type=?)',
    ],
    ['prices of a project', SELECT_PRICES, 'prices_project_id_id (project_id=?)'],
    ['traces of calls', SELECT_TRACES_OF_CALLS, 'calls_project_key_id (project_key=? AND id=?)'],
  ])('seek %s by an index', (_name, sql, index) => {
    expect(planOf(sql)).toContain(index)
  })

  it('walk all feedback of a project in its order, without sorting', () => {
    expect(planOf(FEEDBACK.selectFeedback('all', 'asc'))).not.toContain('TEMP B-TREE')
  })

  it.each([
    ['all', 'created_at_us>? AND created_at_us<?'],
    ['one_ref', 'weave_ref=? AND created_at_us>? AND created_at_us<?'],
  ] as const)('sort nothing but equal times of %s from the newest on', (source, seek) => {
    const plan = planOf(FEEDBACK.selectFeedback(source, 'desc'))
    expect(plan).toContain(seek)
    expect(plan).toContain('USE TEMP B-TREE FOR LAST TERM OF ORDER BY')
  })
})
