import { expect, it } from 'vitest'
import { createCallTests, type ScannedCall } from '../../../src/domain/calls/call-fields.ts'
import type { CallTexts } from '../../../src/domain/calls/call-view.ts'
import { resolveCallsSelection } from '../../../src/domain/calls/calls-query.ts'

const [status, errors] = ['summary.weave.status', 'summary.weave.tree_error_count']
const is = (field: string, value: unknown) => ({
  $eq: [{ $getField: field }, { $literal: value }],
})
const not = (condition: object) => ({ $not: [condition] })

const CALLS = { failed: ['refused', 1], ended: [null, 1], running: [null, null] } as const

/** The calls whose descendants must be read. */
function needing($expr: Readonly<Record<string, unknown>> | null, sort_by?: string): string[] {
  const { expression, sort } = resolveCallsSelection({
    project_id: 'acme/demo',
    ...($expr && { query: { $expr } }),
    ...(sort_by && { sort_by: [{ field: sort_by, direction: 'asc' }] }),
  })
  const { needsTree } = createCallTests(expression, sort)
  return Object.entries(CALLS).flatMap(([id, [exception, ended_at_us]]) => {
    const call = { id, op_name: 'op', started_at_us: 0, ended_at_us, exception } as CallTexts
    const beside = { treeOf: () => null } as unknown as ScannedCall['beside']
    return needsTree({ call, parsed: {}, beside } as ScannedCall) ? [id] : []
  })
}

it('a condition reads descendants only of calls whose status they change from or to what it accepts', () => {
  expect(needing(is(status, 'error'))).toEqual([])
  expect(needing(is(status, 'running'))).toEqual([])
  expect(needing({ $or: [is(status, 'error'), is(status, 'running')] })).toEqual([])
  expect(needing({ $or: [is(status, 'success'), is(status, 'descendant_error')] })).toEqual([])
  expect(needing(is(status, 'success'))).toEqual(['ended'])
  expect(needing(is(status, 'descendant_error'))).toEqual(['ended'])
  expect(needing(not(is(status, 'success')))).toEqual(['ended'])
})

it('a condition on their number reads those of all calls', () => {
  const all = Object.keys(CALLS)
  expect(needing(is(errors, 2))).toEqual(all)
  expect(needing({ $and: [is(status, 'error'), is(errors, 2)] })).toEqual(all)
})

it('an order by them reads those of calls that the condition may accept', () => {
  expect(needing(null, errors)).toEqual(Object.keys(CALLS))
  expect(needing(is(status, 'error'), errors)).toEqual(['failed'])
  expect(needing(is(status, 'success'), errors)).toEqual(['ended'])
  expect(needing(is(status, 'error'), 'op_name')).toEqual([])
})
