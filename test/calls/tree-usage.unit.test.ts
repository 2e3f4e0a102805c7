import { expect, it } from 'vitest'
import { ApiError } from '../../src/errors.ts'
import { createTreeReader } from '../../src/routes/calls/tree-usage.ts'
import type { UsageStore } from '../../src/store/api/usage/usage.ts'
import { readCaller } from '../support/read-caller.ts'

/** A store in which the traces with these names have too many calls; ids are `trace/name`. */
function fakeUsage(tooLarge: readonly string[]) {
  const queries: string[] = []
  const sumCallsUsage: UsageStore['sumCallsUsage'] = async ({ call_ids, counting }) => {
    queries.push(call_ids.join(' '))
    if (call_ids.some((id) => tooLarge.some((trace) => id.startsWith(trace)))) {
      throw new ApiError('validation_failed', { param: 'limit' })
    }
    const call_usage = Object.fromEntries(call_ids.map((id) => [id, {}]))
    return { usage_counting: counting, call_usage, failed_descendants: {}, unfinished_call_ids: [] }
  }
  const countFailures: UsageStore['countFailures'] = async ({ trace_ids }) =>
    new Map(trace_ids.map((trace_id) => [trace_id, new Map([[`${trace_id}/1`, 2]])]))
  const sumTraceUsage = () => Promise.reject(new Error('unused'))
  const usage = { sumCallsUsage, countFailures, sumTraceUsage }
  const read = createTreeReader(usage, { project_id: 'a/b', prices: null }, readCaller())
  const pageOf = (ids: readonly string[]) =>
    ids.map((id) => ({ id, trace_id: id.split('/')[0] as string }))
  /** The ids of calls whose usage is known, and how many failed below the others. */
  async function readIds(...ids: string[]) {
    const trees = [...(await read(pageOf(ids)))]
    return trees.map(([id, tree]) => (tree.byModel ? id : `${id} ${tree.failedDescendants}`))
  }
  return { queries, read: readIds }
}

it('has only the failures of a trace with too many calls, whose usage is read once for all of its calls and pages', async () => {
  const { queries, read } = fakeUsage(['big'])
  expect(await read('big/1', 'big/2', 'big/3', 'small/1')).toEqual([
    'small/1',
    'big/1 2',
    'big/2 0',
    'big/3 0',
  ])
  expect(queries).toEqual(['big/1 big/2 big/3 small/1', 'big/1 big/2 big/3', 'small/1'])
  expect(await read('big/4', 'big/1')).toEqual(['big/4 0', 'big/1 2'])
  expect(await read('big/6', 'other/1')).toEqual(['other/1', 'big/6 0'])
  expect(queries.slice(3)).toEqual(['other/1'])
})

it('reads the traces of a page apart when they have too many calls together', async () => {
  const { queries, read } = fakeUsage(['b'])
  expect(await read('a/1', 'b/1', 'c/1', 'd/1')).toEqual(['a/1', 'c/1', 'd/1', 'b/1 2'])
  expect(queries).toEqual(['a/1 b/1 c/1 d/1', 'a/1 b/1', 'a/1', 'b/1', 'c/1 d/1'])
})
