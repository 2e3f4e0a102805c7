import { expect, it } from 'vitest'
import { createTreeBudget } from '../../../src/store/base/usage/call-trees.ts'
import { describeEachStore } from '../../store/clickhouse/describe-each-store.ts'
import type { TestApp } from '../../support/build-test-app.ts'
import { end, ids, list, PROJECT, start } from './stream-fixtures.ts'

const at = (second: number) => ({ started_at: `2026-01-01T00:00:0${second}Z` })
const TOKENS = 'summary.weave.tree_total_tokens'
const COST = 'summary.weave.tree_total_cost'
const roots = { filter: { trace_roots_only: true } }
const by = (field: string, direction = 'desc') => ({ ...roots, sort_by: [{ field, direction }] })
const above = (field: string, value: number) => ({
  $expr: { $gt: [{ $getField: field }, { $literal: value }] },
})

const used = (model: string, tokens: number) => ({
  summary: { usage: { [model]: { requests: 1, prompt_tokens: tokens, total_tokens: tokens } } },
})

/** Three traces: much that is cheap, little that is dear, and nothing; the first root repeats what its child reports. */
async function fill(app: TestApp): Promise<void> {
  await start(app, 'cheap', { trace_id: 'c', ...at(1) })
  await start(app, 'cheap-child', { trace_id: 'c', parent_id: 'cheap', ...at(2) })
  await start(app, 'dear', { trace_id: 'd', ...at(3) })
  await start(app, 'dear-child', { trace_id: 'd', parent_id: 'dear', ...at(4) })
  await start(app, 'none', { trace_id: 'n', ...at(5) })
  for (const id of ['cheap', 'cheap-child']) await end(app, id, used('gpt-4o-mini', 900))
  await end(app, 'dear')
  await end(app, 'dear-child', used('gpt-4o', 500))
  await end(app, 'none')
}

describeEachStore('orders and conditions by what trees used', (build) => {
  it('sort roots by the tokens and the cost of their trees, each token once', async () => {
    const app = await build()
    await fill(app)
    expect(ids(await list(app, by(TOKENS)))).toEqual(['cheap', 'dear', 'none'])
    expect(ids(await list(app, by(TOKENS, 'asc')))).toEqual(['none', 'dear', 'cheap'])
    expect(ids(await list(app, by(COST)))).toEqual(['dear', 'cheap', 'none'])
    expect(ids(await list(app, { ...by(COST), offset: 1, limit: 1 }))).toEqual(['cheap'])
  })

  it('compare what include_tree_usage shows, and count the same calls', async () => {
    const app = await build()
    await fill(app)
    expect(ids(await list(app, { query: above(TOKENS, 499) }))).toEqual([
      'cheap',
      'cheap-child',
      'dear',
      'dear-child',
    ])
    const query = above(COST, 0.001)
    const dear = await list(app, { ...roots, query, include_tree_usage: true })
    expect(dear.map(({ id, summary: { weave } }) => [id, weave.tree_total_cost])).toEqual([
      ['dear', 0.00125],
    ])
    const counted = await app.post('/calls/query_stats', { project_id: PROJECT, query })
    expect(counted.body.count).toBe(2)
    const byModel = above('summary.weave.tree_usage.gpt-4o-mini.prompt_tokens', 0)
    expect(ids(await list(app, { ...roots, query: byModel }))).toEqual(['cheap'])
  })

  it('follow late children, deletions and prices', async () => {
    const app = await build()
    await fill(app)
    await start(app, 'late', { trace_id: 'n', parent_id: 'none', ...at(6) })
    await end(app, 'late', used('m', 5000))
    expect(ids(await list(app, by(TOKENS)))).toEqual(['none', 'cheap', 'dear'])
    expect(ids(await list(app, by(COST)))).toEqual(['dear', 'cheap', 'none'])
    const cost = { prompt_token_cost: 1, completion_token_cost: 1 }
    const priced = await app.post('/cost/create', { project_id: PROJECT, costs: { m: cost } })
    expect(priced.status).toBe(200)
    expect(ids(await list(app, by(COST)))).toEqual(['none', 'dear', 'cheap'])
    await app.post('/calls/delete', { project_id: PROJECT, call_ids: ['late', 'cheap-child'] })
    expect(ids(await list(app, by(TOKENS)))).toEqual(['cheap', 'dear', 'none'])
  })
})

it('orders by the usage of trees are refused beyond half a million calls, naming what would do', () => {
  const spend = createTreeBudget({ expression: null })
  spend(499_999)
  spend(1)
  expect(() => spend(1)).toThrow(/more than 500000 calls would be read: narrow started_at/)
})
