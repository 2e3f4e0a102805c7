import { describe, expect, it, onTestFinished } from 'vitest'
import { openDatabase } from '../../src/store/sqlite/db/connection.ts'
import { migrate } from '../../src/store/sqlite/db/migrate.ts'
import { selectFeedback } from '../../src/store/sqlite/feedback/feedback.sql.ts'
import { SELECT_PRICES } from '../../src/store/sqlite/prices/prices.sql.ts'
import { SELECT_TRACES_OF_CALLS } from '../../src/store/sqlite/usage/usage.sql.ts'

function planOf(sql: string): string {
  const db = openDatabase(':memory:')
  onTestFinished(() => void db.close())
  migrate(db)
  const names = [...sql.matchAll(/@(\w+)/g)].map(([, name]) => [name, '[]'])
  const rows = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(Object.fromEntries(names))
  return rows.map((row) => (row as { detail: string }).detail).join('\n')
}

describe('statements over feedback, prices and usage', () => {
  it.each([
    [
      'feedback by id',
      selectFeedback('id', true),
      'feedback_project_id_id (project_id=? AND id=?)',
    ],
    [
      'feedback by ref',
      selectFeedback('weave_ref', false),
      'feedback_project_id_weave_ref_created_at_us (project_id=? AND weave_ref=?',
    ],
    ['prices of a project', SELECT_PRICES, 'prices_project_id_id (project_id=?)'],
    ['traces of calls', SELECT_TRACES_OF_CALLS, 'calls_project_key_id (project_key=? AND id=?)'],
  ])('seek %s by an index', (_name, sql, index) => {
    expect(planOf(sql)).toContain(index)
  })

  it('walk all feedback of a project in its order, without sorting', () => {
    expect(planOf(selectFeedback('all', true))).not.toContain('TEMP B-TREE')
  })
})
