import { describe, expect, it } from 'vitest'
import { createHourMarks } from '../../src/store/sqlite/stats/hour-marks.ts'
import { createGroupCommit } from '../../src/store/sqlite/write/group-commit.ts'
import { openMigrated } from '../store/support/migrated-database.ts'

const call = {
  started_at_us: 7,
  is_root: true,
  op_name: 'op',
  svc_user_id: 'u',
  svc_run_id: null,
  end_user_id: null,
}

function open() {
  const db = openMigrated()
  const commit = createGroupCommit(db)
  const marks = createHourMarks(db, commit)
  const start = (project: string) => commit.write(() => marks.start(project, 1, call, null))
  const failing = (project: string) =>
    commit.write(() => {
      marks.start(project, 1, call, null)
      throw new Error('no')
    })
  const pending = () =>
    db.prepare('SELECT project_id, pending FROM stats_hours ORDER BY 1').raw().all()
  return { db, start, failing, pending }
}

describe('the marks of hours', () => {
  it('hour marks count no call of a write that failed in a shared transaction', async () => {
    const { start, failing, pending } = open()
    const failed = failing('acme/failed')
    await Promise.all([start('acme/a'), expect(failed).rejects.toThrow(), start('acme/b')])
    expect(pending()).toEqual([
      ['acme/a', 1],
      ['acme/b', 1],
    ])
  })

  it('hour marks count no call of a failed commit', async () => {
    const { db, start, pending } = open()
    db.exec(
      "CREATE TRIGGER full BEFORE INSERT ON stats_changes BEGIN SELECT raise(ROLLBACK, 'full'); END",
    )
    await expect(start('acme/a')).rejects.toThrow()
    db.exec('DROP TRIGGER full')
    await start('acme/b')
    expect(pending()).toEqual([['acme/b', 1]])
  })
})
