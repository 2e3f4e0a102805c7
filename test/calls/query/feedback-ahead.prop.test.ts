import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { createFeedbackAhead } from '../../../src/store/sqlite/calls/query/call-joins.ts'
import type { FoundKey } from '../../../src/store/sqlite/calls/query/calls-walk.ts'
import { createFeedbackAbout } from '../../../src/store/sqlite/feedback/feedback-about.ts'
import { feedbackAt } from '../../feedback/feedback-fixtures.ts'
import { INSERT_FEEDBACK } from '../../store/support/insert-feedback.ts'
import { openMigrated } from '../../store/support/migrated-database.ts'

const project_id = 'acme/demo'
const refOf = (id: string) => `weave:///${project_id}/call/${id}`
const keyOf = (id: string): FoundKey => [0, 0, id]
const made = feedbackAt('2026-01-01T00:00:00Z', 'made')

/** A database in which each id has so much feedback, each third of one time. */
function openJudged(counts: Readonly<Record<string, number>>) {
  const db = openMigrated()
  const insert = db.prepare(INSERT_FEEDBACK)
  for (const [id, count] of Object.entries(counts)) {
    for (let nth = 0; nth < count; nth++) {
      const created_at_us = made.created_at_us + Math.floor(nth / 3)
      const weave_ref = refOf(id)
      insert.run({ ...made, project_id, id: `${id}-${count - nth}`, weave_ref, created_at_us })
    }
  }
  return db
}

const id = fc.oneof(
  fc.constantFrom('a', 'a/b', 'ä', 'b', '0', '%', 'call'),
  fc.uuid({ version: 7 }),
  fc.integer({ min: 0, max: 9 }).map((n) => `${n}`.repeat(32)),
)
const count = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 4 }), fc.constantFrom(250, 1002))

it('gives of each call that is asked for what is read of it alone', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(id, count, fc.boolean()), { maxLength: 12 }),
      fc.array(id, { maxLength: 3 }),
      (calls, others) => {
        const db = openJudged(Object.fromEntries(calls))
        const about = createFeedbackAbout(db)
        const { expect: foresee, feedbackOf } = createFeedbackAhead(db, 'weave')
        foresee(calls.map(([one]) => keyOf(one)))
        const asked = [...calls.filter(([, , isAsked]) => isAsked).map(([one]) => one), ...others]
        const found = asked.map((one) => feedbackOf({ project_id, id: one }))
        expect(found).toEqual(asked.map((one) => about(project_id, refOf(one))))
        db.close()
      },
    ),
    { numRuns: 60 },
  )
})

it('reads 256 feedbacks at once, and of no call in part', () => {
  const db = openJudged({ a: 100, b: 0, c: 156, d: 1, e: 300, f: 1 })
  onTestFinished(() => void db.close())
  const { expect: foresee, feedbackOf } = createFeedbackAhead(db, 'weave')
  const remove = db.prepare('DELETE FROM feedback WHERE weave_ref = ?')
  const lengthOf = (one: string) => feedbackOf({ project_id, id: one }).length
  foresee([...'abcdef'].map(keyOf))
  expect(lengthOf('a')).toBe(100)
  for (const one of 'acd') remove.run(refOf(one))
  expect([...'abcd'].map(lengthOf)).toEqual([100, 0, 156, 0])
  expect(lengthOf('e')).toBe(300)
  remove.run(refOf('f'))
  expect(lengthOf('f')).toBe(0)
})
