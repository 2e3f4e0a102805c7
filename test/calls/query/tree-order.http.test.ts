import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { resolveCallsSelection } from '../../../src/domain/calls/calls-query.ts'
import { createTreeBudget } from '../../../src/store/base/usage/call-trees.ts'
import { openCallTrees as openInClickHouse } from '../../../src/store/clickhouse/calls/query/call-trees.ts'
import { connectClickHouse } from '../../../src/store/clickhouse/db/client.ts'
import { openCallTrees as openInSqlite } from '../../../src/store/sqlite/calls/query/call-trees.ts'
import { DATABASE_FILE, openReadOnlyDatabase } from '../../../src/store/sqlite/db/connection.ts'
import { borrowDatabase, hasClickHouse } from '../../store/clickhouse/clickhouse-server.ts'
import { describeEachStore } from '../../store/clickhouse/describe-each-store.ts'
import { buildTestApp, type TestApp } from '../../support/build-test-app.ts'
import { readCaller } from '../../support/read-caller.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
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
  it('sort roots by the tokens and the cost of their trees', async () => {
    const app = await build()
    await fill(app)
    expect(ids(await list(app, by(TOKENS)))).toEqual(['cheap', 'dear', 'none'])
    expect(ids(await list(app, by(TOKENS, 'asc')))).toEqual(['none', 'dear', 'cheap'])
    expect(ids(await list(app, by(COST)))).toEqual(['dear', 'cheap', 'none'])
    expect(ids(await list(app, { ...by(COST), offset: 1, limit: 1 }))).toEqual(['cheap'])
  })

  it('compare what include_tree_usage shows, each token once, and count the same calls', async () => {
    const app = await build()
    await fill(app)
    expect(ids(await list(app, { query: above(TOKENS, 499) }))).toEqual([
      'cheap',
      'cheap-child',
      'dear',
      'dear-child',
    ])
    expect(ids(await list(app, { query: above(TOKENS, 900) }))).toEqual([])
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

it('orders and conditions by the usage of trees are refused beyond half a million calls, naming what would do', () => {
  const path = TOKENS.split('.')
  for (const [expression, param] of [
    [null, 'sort_by'],
    [{ op: '$getField', path }, 'query'],
  ] as const) {
    const spend = createTreeBudget({ expression })
    spend(499_999)
    spend(1)
    const message = expect.stringMatching(/more than 500000 calls .*: narrow started_at/)
    expect(() => spend(1)).toThrow(expect.objectContaining({ param, message }))
  }
})

const byTokens = resolveCallsSelection({
  project_id: PROJECT,
  sort_by: [{ field: TOKENS, direction: 'asc' }],
})
const [CHEAP, DEAR] = [
  { id: 'cheap', trace_id: 'c' },
  { id: 'dear', trace_id: 'd' },
] as const

it('calls whose usage is summed up count until the limit, in SQLite', async () => {
  const dataDir = makeTempDir()
  await fill(await buildTestApp({ dataDir }))
  const db = openReadOnlyDatabase(join(dataDir, DATABASE_FILE))
  onTestFinished(() => void db.close())
  const trees = openInSqlite(db, byTokens, () => false, 3)
  const load = (top: typeof CHEAP | typeof DEAR) => [...(trees?.load([top]) ?? [])]
  load(CHEAP)
  expect(trees?.treeOf(CHEAP)?.byModel).not.toBeNull()
  expect(() => load(DEAR)).toThrow(/more than 3 calls/)
})

it.skipIf(!hasClickHouse)(
  'calls whose usage is summed up count until the limit, in ClickHouse',
  async () => {
    const url = await borrowDatabase()
    await fill(await buildTestApp({ store: 'clickhouse', clickhouse: { url, cluster: null } }))
    const db = connectClickHouse({ url, readTimeoutMs: 20_000 })
    onTestFinished(() => db.close())
    const trees = openInClickHouse(db as never, byTokens, 3)
    await trees?.load([CHEAP], readCaller({ project_id: PROJECT }))
    expect(trees?.treeOf(CHEAP)?.byModel).not.toBeNull()
    const more = trees?.load([DEAR], readCaller({ project_id: PROJECT }))
    await expect(more).rejects.toThrow(/more than 3 calls/)
  },
)
