import { describe, expect, it } from 'vitest'
import { parseQuery } from '../../../src/domain/query/query-expression.ts'
import { selectedQuery } from '../../../src/page/calls/selection/selected-query.ts'
import {
  countSelected,
  EVERYTHING,
  isEmpty,
  isSelected,
  NOTHING,
  withIds,
} from '../../../src/page/calls/selection/selection.ts'

const started = { $lt: [{ $getField: 'started_at' }, { $literal: '2026-01-31T12:00:00Z' }] }
const question = { project_id: 'a/b', filter: { thread_ids: ['t'] }, query: { $expr: started } }
const targetOf = (selection: typeof NOTHING) => ({ project: 'a/b', question, selection })

describe('a selection of calls', () => {
  it('has single calls, or all of a search but some', () => {
    const two = withIds(withIds(NOTHING, ['a', 'b', 'c'], true), ['b'], false)
    expect(['a', 'b', 'c'].map((id) => isSelected(two, id))).toEqual([true, false, true])
    expect([countSelected(two, 10), countSelected(two, null)]).toEqual([2, 2])
    const most = withIds(withIds(EVERYTHING, ['a', 'b'], false), ['b'], true)
    expect(['a', 'b', 'z'].map((id) => isSelected(most, id))).toEqual([false, true, true])
    expect([countSelected(most, 10), countSelected(most, null)]).toEqual([9, null])
    expect([NOTHING, EVERYTHING, two, most].map(isEmpty)).toEqual([true, false, false, false])
  })

  it('is one query that the server takes, without the calls that are left out', () => {
    expect(selectedQuery(targetOf(withIds(NOTHING, ['a'], true)))).toEqual({
      project_id: 'a/b',
      filter: { call_ids: ['a'] },
    })
    expect(selectedQuery(targetOf(EVERYTHING))).toBe(question)
    const most = selectedQuery(targetOf(withIds(EVERYTHING, ['a', 'b'], false)))
    expect(most.filter).toEqual({ thread_ids: ['t'] })
    const $expr = most.query?.$expr as object
    parseQuery({ $expr }, { fields: new Set(['id', 'started_at']) })
    expect(JSON.stringify($expr)).toContain('"$in":[{"$getField":"id"},[{"$literal":"a"}')
  })

  it('says how many calls one query takes', () => {
    const ids = (count: number) => Array.from({ length: count }, (_, at) => `c${at}`)
    const many = withIds(NOTHING, ids(1001), true)
    expect(() => selectedQuery(targetOf(many))).toThrow(/At most 1000 single calls/)
    const few = withIds(EVERYTHING, ids(501), false)
    expect(() => selectedQuery(targetOf(few))).toThrow(
      /At most 500 calls of a search can be left out/,
    )
    const most = selectedQuery(targetOf(withIds(EVERYTHING, ids(500), false)))
    const $expr = most.query?.$expr as object
    parseQuery({ $expr }, { fields: new Set(['id', 'started_at']) })
  })
})
