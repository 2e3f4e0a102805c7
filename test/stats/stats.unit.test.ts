import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toColumns } from '../../src/domain/stats/metric-names.ts'
import { renderModelNames } from '../../src/domain/stats/stats-view.ts'
import { CallsFilter } from '../../src/schemas/calls/calls-filter.ts'
import { toFilterClause } from '../../src/store/sqlite/calls/query/calls-filter.ts'
import { openDatabase } from '../../src/store/sqlite/db/connection.ts'
import { migrate } from '../../src/store/sqlite/db/migrate.ts'
import { toHourFilter } from '../../src/store/sqlite/stats/segments/hour-filter.ts'
import { selectStatsCalls, selectStatsUsage } from '../../src/store/sqlite/stats/stats.sql.ts'

const WINDOW = { project_id: 'acme/demo', start_us: 0, end_us: 1 }

const db = openDatabase(':memory:')
beforeAll(() => void migrate(db))
afterAll(() => void db.close())

/** The steps of SQLite's plan, as lines. */
function planOf(sql: string, parameters: Record<string, string> = {}): string[] {
  const rows = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all({ ...WINDOW, ...parameters })
  return (rows as { detail: string }[]).map(({ detail }) => detail)
}

describe('the statements of the statistics', () => {
  const RANGE =
    'SEARCH calls USING INDEX calls_project_key_started_at_us (project_key=? AND started_at_us>? AND started_at_us<?)'
  const OF_PROJECT = [
    'SCALAR SUBQUERY 1',
    'SEARCH projects USING COVERING INDEX sqlite_autoindex_projects_1 (project_id=?)',
  ]

  it('the statements of the statistics scan the window by its index, without a sort', () => {
    expect(planOf(selectStatsCalls([]))).toEqual([RANGE, ...OF_PROJECT])
    expect(planOf(selectStatsUsage([]))).toEqual([
      RANGE,
      ...OF_PROJECT,
      'SEARCH call_usage USING PRIMARY KEY (call_key=?)',
    ])
  })

  it.each(Object.keys(CallsFilter.shape))(
    'the statements of the statistics never scan a whole table with %s',
    (field) => {
      const value = field === 'trace_roots_only' ? true : ['x', 'y:*']
      const { conditions, parameters } = toFilterClause(db, 'acme/demo', { [field]: value })
      expect(conditions).toEqual([
        field.endsWith('_refs') || field === 'end_user_ids' ? `few_${field}` : field,
      ])
      for (const select of [selectStatsCalls, selectStatsUsage]) {
        const steps = planOf(select(conditions), parameters)
        expect(steps.filter((step) => /^SCAN (?:calls|call_)/.test(step))).toEqual([])
        expect(steps.some((step) => step.startsWith('SEARCH calls USING'))).toBe(true)
      }
    },
  )
})

describe('toFilterClause', () => {
  it('calls are searched by rare refs, and by time for frequent ones', () => {
    const use = db.transaction((calls: number) => {
      db.exec("INSERT INTO projects (project_id) VALUES ('acme/uses')")
      db.exec("INSERT INTO refs (ref) VALUES ('weave:///a/b/object/o:v1')")
      const call = db.prepare(
        "INSERT INTO calls (project_key, id) SELECT project_key, ? FROM projects WHERE project_id = 'acme/uses'",
      )
      const ref = db.prepare(
        'INSERT INTO call_refs (call_key, is_output, ref_key) SELECT ?, 0, ref_key FROM refs',
      )
      for (let n = 0; n < calls; n++) ref.run(call.run(`c${n}`).lastInsertRowid)
    })
    use(4097)
    const conditionsOf = (field: 'input_refs' | 'output_refs', entry: string) =>
      toFilterClause(db, 'acme/uses', { [field]: [entry] }).conditions
    expect(conditionsOf('input_refs', 'weave:///a/b/object/o:v1')).toEqual(['input_refs'])
    expect(conditionsOf('input_refs', 'weave:///a/b/object/o:*')).toEqual(['input_refs'])
    expect(conditionsOf('output_refs', 'weave:///a/b/object/o:v1')).toEqual(['few_output_refs'])
    db.exec('DELETE FROM call_refs WHERE call_key = 1')
    expect(conditionsOf('input_refs', 'weave:///a/b/object/o:v1')).toEqual(['few_input_refs'])
  })

  it('filter entries are parameters of the statement', () => {
    const { conditions, parameters } = toFilterClause(db, 'acme/demo', {
      op_names: ["a'", 'b:*'],
      call_ids: [],
    })
    expect(conditions).toEqual(['op_names'])
    expect(parameters).toEqual({ op_names: '["a\'"]', op_names_prefixes: '["b:"]' })
  })
})

describe('toHourFilter', () => {
  it('runs of the project are found by both of their names, as in rows', () => {
    const names = ['acme/demo/r1', 'r1', 'acme/demo/r2', 'r2', 'acme/other/r1', 'r3', null]
    const filter = { svc_run_ids: ['acme/demo/r1', 'r2'] }
    const isRun = toHourFilter('acme/demo', filter)?.run
    expect(names.filter((name) => isRun?.(name))).toEqual(names.slice(0, 4))
    const { parameters } = toFilterClause(db, 'acme/demo', filter)
    expect(new Set(JSON.parse(parameters.svc_run_ids ?? ''))).toEqual(new Set(names.slice(0, 4)))
  })
})

describe('toColumns', () => {
  it('column keys are named by aggregation and percentile, each once, in request order', () => {
    const columns = toColumns([
      { metric: 'latency_ms', aggregations: ['max', 'sum'], percentiles: [99.9, 50, 50] },
      { metric: 'latency_ms', aggregations: ['sum', 'avg'], percentiles: [] },
    ])
    expect(columns.map(({ key }) => key)).toEqual([
      ...['max_latency_ms', 'sum_latency_ms', 'p99.9_latency_ms', 'p50_latency_ms'],
      'avg_latency_ms',
    ])
  })
})

describe('renderModelNames', () => {
  it('model names that a header cannot hold are encoded', () => {
    expect(renderModelNames(['a,b', 'münze\r\n', 'x\ud800'])).toBe(
      'a%2Cb,m%C3%BCnze%0D%0A,x%EF%BF%BD',
    )
  })

  it('the header lists as many model names as fit', () => {
    const names = Array.from({ length: 1000 }, (_, index) => `model-${index}`)
    const text = renderModelNames(names)
    expect(text.length).toBeLessThanOrEqual(2048)
    expect(text.split(',')).toEqual(names.slice(0, text.split(',').length))
  })
})
