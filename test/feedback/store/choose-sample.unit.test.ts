import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Feedback } from '../../../src/domain/feedback/new-feedback.ts'
import type { Connection } from '../../../src/store/sqlite/db/connection.ts'
import * as SQL from '../../../src/store/sqlite/feedback/feedback.sql.ts'
import { chooseSample } from '../../../src/store/sqlite/feedback/feedback-reads.ts'
import { INSERT_FEEDBACK } from '../../store/support/insert-feedback.ts'
import { openMigrated } from '../../store/support/migrated-database.ts'
import { feedbackAt, trigger } from '../feedback-fixtures.ts'
import { sampleOf } from './feedback-store-contract.ts'

const T0 = '2026-01-01T00:00:00Z'
const WALK = { walkRowsMax: Number.MAX_SAFE_INTEGER, askedGroupsMax: 0 }
const ASK = { walkRowsMax: 0, askedGroupsMax: Number.MAX_SAFE_INTEGER }

function open(records: readonly Feedback[]): Connection {
  const db = openMigrated()
  const insert = db.prepare(INSERT_FEEDBACK)
  for (const record of records) insert.run(record)
  return db
}

describe('chooseSample', () => {
  it('finds the same by a walk, by asking the groups, and by one after the other', () => {
    const refs = [trigger('a', 'v1'), trigger('a', 'v2'), trigger('ab', 'v1'), trigger('😀'), null]
    const record = fc.record({
      second: fc.integer({ min: 0, max: 3 }),
      trigger_ref: fc.constantFrom(...refs),
      feedback_type: fc.constantFrom('x', 'y', 'é'),
      project_id: fc.constantFrom('acme/demo', 'acme/demo', 'acme/other'),
    })
    const query = fc.record({
      feedback_type: fc.constantFrom('x', 'none', null),
      trigger_ref: fc.constantFrom(trigger('a', 'v1'), null, null),
      trigger_prefix: fc.constantFrom(trigger('a', ''), null, null),
      sample_limit: fc.integer({ min: 1, max: 4 }),
      start: fc.integer({ min: 0, max: 3 }),
      end: fc.integer({ min: 1, max: 4 }),
    })
    const ids = fc.uniqueArray(fc.constantFrom(...'abcdeA_é\uffff', '😀', 'zz', 'z'), {
      minLength: 8,
    })
    fc.assert(
      fc.property(
        fc.array(record, { minLength: 2, maxLength: 12 }),
        ids,
        query,
        (rows, names, filter) => {
          const count = Math.min(rows.length, names.length)
          const db = open(
            rows.slice(0, count).map(({ second, ...fields }, at) => ({
              ...feedbackAt(`2026-01-01T00:00:0${second}Z`, `f${at}`, fields),
              id: names[at] ?? '',
            })),
          )
          const { start, end, ...fields } = filter
          const sample = sampleOf({
            ...fields,
            start_us: Date.UTC(2026, 0, 1, 0, 0, start) * 1000,
            end_us: Date.UTC(2026, 0, 1, 0, 0, end) * 1000,
          })
          const walked = chooseSample(db, sample, () => {}, WALK)
          expect(chooseSample(db, sample, () => {}, ASK)).toEqual(walked)
          for (const askedGroupsMax of [0, 2, 100]) {
            const effort = { walkRowsMax: 3, askedGroupsMax }
            expect(chooseSample(db, sample, () => {}, effort)).toEqual(walked)
          }
          expect(chooseSample(db, sample, () => {})).toEqual(walked)
          db.close()
        },
      ),
      { numRuns: 60 },
    )
  })

  it.each([
    ['walks', WALK],
    ['asks', ASK],
  ])('stops when nobody waits any more while it %s', (_how, effort) => {
    const records = Array.from({ length: 1500 }, (_, at) =>
      feedbackAt(T0, `f${at}`, { trigger_ref: trigger(`t${at}`) }),
    )
    const stop = () => {
      throw new Error('nobody waits')
    }
    expect(() => chooseSample(open(records), sampleOf(), stop, effort)).toThrow('nobody waits')
  })

  it.each([
    ['walking', WALK],
    ['asking', ASK],
  ])('takes the newest of a trigger over all its types when %s', (_how, effort) => {
    const records = [
      feedbackAt('2026-01-01T00:00:01Z', 'b', { feedback_type: 'x' }),
      feedbackAt('2026-01-01T00:00:00Z', 'c', { feedback_type: 'y' }),
      feedbackAt('2026-01-01T00:00:01Z', 'a', { feedback_type: 'z' }),
    ]
    expect(chooseSample(open(records), sampleOf(), () => {}, effort)).toEqual([1])
  })

  it('keeps the newest of many groups', () => {
    const records = Array.from({ length: 50 }, (_, at) =>
      feedbackAt(`2026-01-01T00:00:${String((at * 7) % 50).padStart(2, '0')}Z`, `f${at}`, {
        trigger_ref: trigger(`t${at}`),
      }),
    )
    const sample = sampleOf({ sample_limit: 3 })
    const keys = chooseSample(open(records), sample, () => {}, ASK)
    const newest = [49, 48, 47].map((second) =>
      records.findIndex((_, at) => (at * 7) % 50 === second),
    )
    expect(keys).toEqual(newest.map((at) => at + 1))
  })
})

describe('the plans of the feedback statements', () => {
  const BY_TIME = 'feedback_project_id_created_at_us_id_feedback_type_trigger_ref'
  const BY_GROUP = 'feedback_project_id_feedback_type_trigger_ref_created_at_us_id'
  const KEY = { project_id: 'p', id: 'i', feedback_key: 1, rows_max: 10 }
  const AFTER = { after_us: 0, after_id: '' }
  const GROUP = { feedback_type: 'x', trigger_ref: trigger('a') }

  it.each([
    [
      'a window',
      SQL.SELECT_FEEDBACK_WINDOW,
      `COVERING INDEX ${BY_TIME} (project_id=? AND created_at_us>? AND created_at_us<?)`,
    ],
    [
      'the next type',
      SQL.FIND_NEXT_TYPE,
      `COVERING INDEX ${BY_GROUP} (project_id=? AND feedback_type>?)`,
    ],
    [
      'the next trigger',
      SQL.FIND_NEXT_TRIGGER,
      `COVERING INDEX ${BY_GROUP} (project_id=? AND feedback_type=? AND trigger_ref>?)`,
    ],
    [
      'the newest of a group',
      SQL.FIND_NEWEST_OF_GROUP,
      `COVERING INDEX ${BY_GROUP} (project_id=? AND feedback_type=? AND trigger_ref=? AND created_at_us>? AND created_at_us<?)`,
    ],
    [
      'a part of a window',
      SQL.FEEDBACK.SELECT_WINDOW_PART,
      `COVERING INDEX ${BY_TIME} (project_id=? AND (created_at_us,id)>(?,?) AND created_at_us<?)`,
    ],
  ])('read %s in one search, already in order', (_what, sql, plan) => {
    const statement = open([]).prepare(`EXPLAIN QUERY PLAN ${sql}`)
    const rows = statement.all({ ...sampleOf(), ...KEY, ...GROUP, ...AFTER }) as {
      detail: string
    }[]
    expect(rows.map(({ detail }) => detail)).toEqual([`SEARCH feedback USING ${plan}`])
  })
})
