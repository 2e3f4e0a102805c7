import { expect, it } from 'vitest'
import { describeEachStore } from '../../store/clickhouse/describe-each-store.ts'
import type { TestApp } from '../../support/build-test-app.ts'
import { end, ids, list, PROJECT, start } from './stream-fixtures.ts'

const at = (second: number) => ({
  started_at: `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`,
})
const statusIs = (status: string) => ({
  $eq: [{ $getField: 'summary.weave.status' }, { $literal: status }],
})
const asked = (status: string) => ({ query: { $expr: statusIs(status) } })

/** A failure two levels below a root, a root whose client counted one, a trace that ended well, and a running root. */
async function fill(app: TestApp): Promise<void> {
  await start(app, 'failed', { trace_id: 't', parent_id: 'middle', ...at(3) })
  await start(app, 'middle', { trace_id: 't', parent_id: 'root', ...at(2) })
  await start(app, 'beside', { trace_id: 't', parent_id: 'root', ...at(4) })
  await start(app, 'root', { trace_id: 't', ...at(1) })
  await start(app, 'counted', { trace_id: 'c', ...at(5) })
  await start(app, 'well', { trace_id: 'w', ...at(6) })
  await start(app, 'running', { trace_id: 'r', ...at(7) })
  await start(app, 'below', { trace_id: 'r', parent_id: 'running', ...at(8) })
  for (const id of ['middle', 'beside', 'root', 'well']) await end(app, id)
  for (const id of ['failed', 'below']) await end(app, id, { exception: 'refused' })
  await end(app, 'counted', { summary: { status_counts: { error: 1 } } })
}

async function failuresOf(app: TestApp) {
  const calls = await list(app, asked('descendant_error'))
  return ids(calls)
}

describeEachStore('conditions on the status of calls', (build) => {
  it('find calls below which one failed, or of which their client counts it', async () => {
    const app = await build()
    await fill(app)
    expect(await failuresOf(app)).toEqual(['root', 'middle', 'counted'])
    expect(ids(await list(app, asked('success')))).toEqual(['beside', 'well'])
    expect(ids(await list(app, asked('error')))).toEqual(['failed', 'below'])
    expect(ids(await list(app, asked('running')))).toEqual(['running'])
  })

  it('count the same calls', async () => {
    const app = await build()
    await fill(app)
    const counted = await app.post('/calls/query_stats', {
      project_id: PROJECT,
      ...asked('descendant_error'),
    })
    expect(counted.body).toMatchObject({ count: 3, has_more: false })
    const few = { project_id: PROJECT, ...asked('descendant_error'), limit: 2 }
    expect((await app.post('/calls/query_stats', few)).body).toMatchObject({
      count: 2,
      has_more: true,
    })
  })

  it('show the status by which calls were found', async () => {
    const app = await build()
    await fill(app)
    const [root] = await list(app, { ...asked('descendant_error'), limit: 1 })
    expect(root.summary.weave).toMatchObject({ status: 'descendant_error', tree_error_count: 1 })
    expect(root.summary.weave).not.toHaveProperty('tree_usage')
    const [narrow] = await list(app, { ...asked('descendant_error'), limit: 1, columns: ['id'] })
    expect(narrow).not.toHaveProperty('summary')
  })

  it('follow what comes late and what is deleted', async () => {
    const app = await build()
    await fill(app)
    await app.post('/calls/delete', { project_id: PROJECT, call_ids: ['failed'] })
    expect(await failuresOf(app)).toEqual(['counted'])
    await start(app, 'late', { trace_id: 'w', parent_id: 'well', ...at(9) })
    await end(app, 'late', { exception: 'late' })
    expect(await failuresOf(app)).toEqual(['counted', 'well'])
  })

  it('combine with other conditions, pages and orders', async () => {
    const app = await build()
    await fill(app)
    const isRoot = { filter: { trace_roots_only: true } }
    expect(ids(await list(app, { ...asked('descendant_error'), ...isRoot }))).toEqual([
      'root',
      'counted',
    ])
    const either = { $or: [statusIs('descendant_error'), statusIs('running')] }
    const since = { $gte: [{ $getField: 'started_at' }, { $literal: at(2).started_at }] }
    const query = { $expr: { $and: [since, { $and: [either] }] } }
    expect(ids(await list(app, { query }))).toEqual(['middle', 'counted', 'running'])
    expect(ids(await list(app, { query, offset: 1, limit: 1 }))).toEqual(['counted'])
    const sort_by = [
      { field: 'summary.weave.tree_error_count', direction: 'desc' },
      { field: 'started_at', direction: 'asc' },
    ]
    expect(ids(await list(app, { sort_by, limit: 4 }))).toEqual([
      'root',
      'middle',
      'running',
      'failed',
    ])
  })

  it('read failures only within a trace', async () => {
    const app = await build()
    await start(app, 'one', { trace_id: 'one', ...at(1) })
    await start(app, 'other', { trace_id: 'other', parent_id: 'one', ...at(2) })
    await start(app, 'two', { trace_id: 'two', ...at(3) })
    await start(app, 'below', { trace_id: 'two', parent_id: 'two', ...at(4) })
    await start(app, 'stray', { trace_id: 'other', parent_id: 'two', ...at(5) })
    for (const id of ['one', 'two']) await end(app, id)
    for (const id of ['other', 'below', 'stray']) await end(app, id, { exception: 'refused' })
    const countsOf = async (request: object) => {
      const calls = await list(app, request)
      return calls.map(({ id, summary: { weave } }) => [id, weave.status, weave.tree_error_count])
    }
    const count = { $getField: 'summary.weave.tree_error_count' }
    const query = { $expr: { $eq: [count, { $literal: 1 }] } }
    expect(await countsOf({ query })).toEqual([['two', 'descendant_error', 1]])
    expect(await countsOf({ include_tree_usage: true, limit: 3 })).toEqual([
      ['one', 'success', 0],
      ['other', 'error', 0],
      ['two', 'descendant_error', 1],
    ])
  })
})
