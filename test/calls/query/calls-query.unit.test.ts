import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Body } from '../../../src/domain/calls/call-fields.ts'
import { resolveCallsSelection } from '../../../src/domain/calls/calls-query.ts'
import { parseQuery } from '../../../src/domain/query/query-expression.ts'
import { timeBounds } from '../../../src/domain/query/time-bounds.ts'
import { DELETE_CALLS } from '../../../src/store/sqlite/calls/calls.sql.ts'
import { toFilterClause } from '../../../src/store/sqlite/calls/query/calls-filter.ts'
import {
  countCalls,
  FIND_TIME_AFTER,
  FIND_TIME_BEFORE,
  findCallsByKey,
  selectCallKeys,
} from '../../../src/store/sqlite/calls/query/calls-query.sql.ts'
import { selectCalls } from '../../../src/store/sqlite/calls/query/calls-scan.ts'
import { openMigrated } from '../../store/support/migrated-database.ts'
import { runPaused } from './run-paused.ts'

const start = { $getField: 'started_at' }
const literal = (value: unknown) => ({ $literal: value })
const us = (text: string) => Date.parse(text) * 1000
const NEW_YEAR = '2026-01-01T00:00:00Z'
const NEXT = '2026-01-02T00:00:00Z'

function boundsOf(expr: unknown) {
  const all = timeBounds(
    parseQuery({ $expr: expr }, { fields: new Set(['started_at', 'x']) }),
    'started_at',
  )
  return [
    all.from === Number.MIN_SAFE_INTEGER ? null : all.from,
    all.to === Number.MAX_SAFE_INTEGER ? null : all.to,
  ]
}

describe('timeBounds', () => {
  const rows: [unknown, (number | null)[]][] = [
    [{ $gte: [start, literal(NEW_YEAR)] }, [us(NEW_YEAR), null]],
    [{ $gt: [start, literal(us(NEW_YEAR) / 1e6)] }, [us(NEW_YEAR), null]],
    [{ $lt: [start, literal(NEXT)] }, [null, us(NEXT)]],
    [{ $lte: [literal(NEW_YEAR), start] }, [us(NEW_YEAR), null]],
    [{ $gt: [literal(NEXT), start] }, [null, us(NEXT)]],
    [
      { $and: [{ $gte: [start, literal(NEW_YEAR)] }, { $and: [{ $lt: [start, literal(NEXT)] }] }] },
      [us(NEW_YEAR), us(NEXT)],
    ],
    [{ $or: [{ $gte: [start, literal(NEW_YEAR)] }] }, [null, null]],
    [{ $not: [{ $gte: [start, literal(NEW_YEAR)] }] }, [null, null]],
    [{ $gte: [start, literal('soon')] }, [null, null]],
    [{ $gte: [start, literal(1e300)] }, [null, null]],
    [{ $gte: [start, { $getField: 'x' }] }, [null, null]],
    [{ $gte: [{ $getField: 'x' }, literal(5)] }, [null, null]],
  ]
  it.each(rows)('of %j are %j', (expr, expected) => {
    expect(boundsOf(expr)).toEqual(expected)
  })
})

const project_id = 'acme/demo'
const select = (fields: object) =>
  resolveCallsSelection({ project_id, ...fields }, { refScheme: 'weave', projects: ['*'] })

describe('resolveCallsSelection', () => {
  it('narrows the filter by ids that the query demands, and never widens it', () => {
    const query = { $expr: { $eq: [{ $getField: 'id' }, literal('a')] } }
    expect(select({ query }).filter).toMatchObject({ call_ids: ['a'] })
    const both = select({ query, filter: { call_ids: ['b'] } })
    expect(both.filter).toMatchObject({ call_ids: ['b'] })
  })
})

it('a page of a list reads no more keys than it has', () => {
  const db = openMigrated()
  db.exec(`
INSERT INTO projects (project_id) VALUES ('${project_id}');
INSERT INTO calls (project_key, id, trace_id, started_at_us)
SELECT project_key, value, 't', value FROM projects, json_each('[1, 2, 3, 4, 5]');
`)
  const all = vi.spyOn(Object.getPrototypeOf(new Database(':memory:').prepare('SELECT 1')), 'all')
  onTestFinished(() => all.mockRestore())
  for (const page of [{ offset: 1, limit: 2 }, { limit: 0 }]) {
    runPaused(db, selectCalls, { selection: select(page), cursor: null })
  }
  expect(all.mock.results.map(({ value }) => (value as []).length)).toEqual([3, 1])
})

describe('the statements of lists', () => {
  const TIME = { project_id: 'p', from_us: 0, to_us: 1, max_key: 9 }
  const PAGE = { after_us: null, after_id: '', limit: 1 }

  function planOf(sql: string, parameters: object): string[] {
    const db = openMigrated()
    const rows = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(parameters) as { detail: string }[]
    const isOfProject = /SCALAR SUBQUERY|SEARCH projects USING COVERING INDEX/
    return rows.map(({ detail }) => detail).filter((line) => !isOfProject.test(line))
  }

  it('walk the index of time, both ways, and sort no more than equal times', () => {
    for (const direction of ['asc', 'desc'] as const) {
      expect(planOf(selectCallKeys([], direction), { ...TIME, ...PAGE })).toEqual([
        expect.stringContaining('USING INDEX calls_project_key_started_at_us (project_key=? AND'),
        expect.stringMatching(/LAST TERM/),
      ])
    }
  })

  it('find the end of a part of time in its index alone', () => {
    for (const sql of [FIND_TIME_AFTER, FIND_TIME_BEFORE]) {
      const { max_key: _key, ...time } = TIME
      expect(planOf(sql, { ...time, calls: 1 })).toEqual([
        expect.stringContaining('COVERING INDEX calls_project_key_started_at_us'),
      ])
    }
  })

  it.each([
    [{ call_ids: ['a'] }, 'calls_project_key_id (project_key=? AND id=?'],
    [{ trace_ids: ['a'] }, 'calls_project_key_trace_id (project_key=? AND trace_id=?'],
    [{ parent_ids: ['a'] }, 'calls_project_key_parent_id (project_key=? AND parent_id=?'],
    [{ turn_ids: ['a'] }, 'calls_project_key_turn_id (project_key=? AND turn_id=?'],
    [{ thread_ids: ['a'] }, 'calls_project_key_thread_id (project_key=? AND thread_id=?'],
    [{ input_refs: ['a', 'b:*'] }, 'call_refs_ref_key (ref_key=? AND is_output=?'],
    [{ output_refs: ['a'] }, 'SEARCH calls USING INTEGER PRIMARY KEY'],
    [
      { op_names: ['a', 'b:*'] },
      'calls_project_key_op_key_started_at_us (project_key=? AND op_key=? AND started_at_us>?',
    ],
  ])('seek %j by its index', (filter, index) => {
    const db = openMigrated()
    const { conditions, parameters } = toFilterClause(db, project_id, filter)
    const keys = planOf(selectCallKeys(conditions, 'asc'), {
      ...TIME,
      ...parameters,
      ...PAGE,
    })
    expect(keys).toContainEqual(expect.stringContaining(index))
    const counted = planOf(countCalls(conditions, true), { ...TIME, ...parameters, limit: 1 })
    expect(counted).toContainEqual(expect.stringContaining(index))
  })

  it('find bodies by primary key, and none that is not wanted', () => {
    const plan = planOf(findCallsByKey(new Set<Body>(['inputs'])), { keys: '[1]' })
    expect(plan.filter((line) => /^SEARCH .* USING INTEGER PRIMARY KEY/.test(line))).toEqual([
      expect.stringContaining('SEARCH calls'),
      expect.stringContaining('SEARCH call_bodies'),
      expect.stringContaining('SEARCH projects'),
      expect.stringContaining('SEARCH ops'),
    ])
    // A sorter would read the bodies of all calls before the first row.
    expect(plan).not.toContainEqual(expect.stringContaining('TEMP B-TREE'))
    expect(findCallsByKey(new Set())).not.toContain('call_bodies')
    expect(findCallsByKey(new Set<Body>(['inputs']))).toContain('NULL AS output_json')
  })

  it('seek descendants by their parents', () => {
    const plan = planOf(DELETE_CALLS, { project_id: 'p', ids: '["a"]', deleted_at_us: 1 })
    expect(plan).toContainEqual(expect.stringContaining('calls_project_key_parent_id'))
    expect(plan.filter((line) => /^SCAN calls/.test(line))).toEqual([])
  })
})
