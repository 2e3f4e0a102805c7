import { describe, expect, it } from 'vitest'
import type { CallTexts } from '../../src/domain/calls/call-view.ts'
import type { EvalRow } from '../../src/schemas/calls/eval-results.ts'
import type { CallsQueryStore } from '../../src/store/api/calls/calls.ts'
import { itRefusesBadRequests } from '../support/bad-requests.ts'
import { buildTestApp } from '../support/build-test-app.ts'

const project_id = 'acme/demo'
const URL = `/v2/${project_id}/eval_results/query`
const ref = (name: string) => `weave:///${project_id}/object/${name}:v0`
const op = (name: string) => `weave:///${project_id}/op/${name}:v0`
const time = (second: number) => new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString()

interface Result {
  readonly example: unknown
  readonly output: unknown
  readonly scores: Record<string, unknown>
}

/** An app with two evaluations of three rows of a dataset, as an SDK records them. */
async function openEvaluated() {
  const app = await buildTestApp()
  const post = async (url: string, body: object) => {
    const { status, body: response } = await app.post(url, body)
    expect([url, status, response?.error]).toEqual([url, 200, undefined])
    return response
  }
  const rows = [
    { q: 'one', level: 3 },
    { q: 'two', level: 1 },
    { q: 'three', level: 2 },
  ]
  const table = await post('/table/create', { table: { project_id, rows } })
  const val = { rows: `weave:///${project_id}/table/${table.digest}` }
  const { digest } = await post('/obj/create', { obj: { project_id, object_id: 'set', val } })
  const { row_digests } = table as { row_digests: string[] }
  const examples = row_digests.map(
    (row) => `weave:///${project_id}/object/set:${digest}/attr/rows/id/${row}`,
  )
  let second = 0

  async function record(id: string, fields: object, end: object): Promise<void> {
    const call = { project_id, id, trace_id: 'trace', attributes: {}, inputs: {}, ...fields }
    second += 1
    await post('/call/start', { start: { ...call, started_at: time(second) } })
    const summary = {
      usage: { 'gpt-4o': { prompt_tokens: 1000, total_tokens: 1000, requests: 1 } },
    }
    await post('/call/end', {
      end: { project_id, id, ended_at: time(second + 2), summary, ...end },
    })
  }

  async function evaluate(id: string, model: string, results: readonly Result[]): Promise<void> {
    const inputs = { self: ref('exam'), model: ref(model) }
    await record(id, { op_name: op('Evaluation.evaluate'), inputs, display_name: id }, {})
    for (const [at, { example, output, scores }] of results.entries()) {
      const trial = `${id}-${at}`
      await record(
        trial,
        {
          parent_id: id,
          op_name: op('Evaluation.predict_and_score'),
          inputs: { self: ref('exam'), model: ref(model), example },
        },
        { output: { output, scores, model_latency: 9 } },
      )
      const below = { parent_id: trial }
      await record(
        `${trial}-p`,
        { ...below, op_name: op('Bot.answer'), inputs: { self: ref(model) } },
        {},
      )
      for (const name of Object.keys(scores)) {
        const attributes = { weave: { score: 'true' } }
        await record(`${trial}-${name}`, { ...below, attributes, op_name: op(name) }, {})
      }
    }
  }

  await evaluate('e1', 'bot', [
    { example: examples[0], output: 'A', scores: { right: true, near: { d: 0.5, why: 'x' } } },
    { example: examples[0], output: 'B', scores: { right: false, near: { d: 1, why: 'y' } } },
    { example: examples[1], output: { t: 'C' }, scores: { right: true } },
  ])
  await evaluate('e2', 'bird', [
    { example: examples[0], output: 'A', scores: { right: true } },
    { example: { inline: 1 }, output: 'D', scores: {} },
  ])
  const ask = async (fields: object = {}, root = '') =>
    post(`${root}${URL}`, { evaluation_call_ids: ['e1', 'e2'], ...fields })
  return { app, ask, evaluate, examples, row_digests }
}

type Row = { row_digest: string }
const digests = ({ rows }: { rows: Row[] }) => rows.map(({ row_digest }) => row_digest)

describe('POST /v2/{entity}/{project}/eval_results/query', () => {
  itRefusesBadRequests({ url: URL, body: {}, scope: 'traces:read' })

  it.each(['', '/traces'])('lays evaluations side by side at %s/', async (root) => {
    const { ask, row_digests } = await openEvaluated()
    const { rows, total_rows, summary, warnings } = await ask({ include_costs: true }, root)
    expect([total_rows, summary, warnings]).toEqual([3, null, []])
    const [first] = row_digests
    expect(rows.find(({ row_digest }: Row) => row_digest === first)).toEqual({
      row_digest: first,
      raw_data_row: null,
      evaluations: [
        {
          evaluation_call_id: 'e1',
          trials: [
            {
              predict_and_score_call_id: 'e1-0',
              predict_call_id: 'e1-0-p',
              scorer_call_ids: { right: 'e1-0-right', near: 'e1-0-near' },
              model_output: 'A',
              scores: { right: true, near: { d: 0.5, why: 'x' } },
              model_latency_seconds: 2,
              total_tokens: 1000,
              total_cost: 0.0025,
              genai_span_ref: null,
            },
            expect.objectContaining({ predict_and_score_call_id: 'e1-1', model_output: 'B' }),
          ],
        },
        { evaluation_call_id: 'e2', trials: [expect.objectContaining({ model_output: 'A' })] },
      ],
    })
  })

  it('leaves out the calls below trials when they are not asked for', async () => {
    const { ask } = await openEvaluated()
    const { rows } = await ask({ include_predict_and_score_children: false })
    expect(rows[0].evaluations[0].trials[0]).toMatchObject({
      predict_call_id: null,
      scorer_call_ids: {},
      total_tokens: null,
      total_cost: null,
    })
  })

  it('returns the inputs of models, as refs or as rows', async () => {
    const { ask, app, examples, row_digests } = await openEvaluated()
    const given = async (fields: object) => {
      const { rows, warnings } = await ask({ include_raw_data_rows: true, ...fields })
      const row = rows.find(({ row_digest }: Row) => row_digest === row_digests[0])
      return [row.raw_data_row, warnings]
    }
    expect(await given({})).toEqual([examples[0], []])
    expect(await given({ resolve_row_refs: true })).toEqual([{ q: 'one', level: 3 }, []])
    await app.post('/obj/delete', { project_id, object_id: 'set' })
    const [, warnings] = await given({ resolve_row_refs: true })
    expect(warnings).toEqual(['The refs of 2 rows lead nowhere and stand as they are.'])
  })

  it('pages the rows that all evaluations have', async () => {
    const { ask, row_digests } = await openEvaluated()
    expect(digests(await ask({ require_intersection: true }))).toEqual([row_digests[0]])
    const all = digests(await ask())
    expect(all).toEqual(all.toSorted())
    const page = await ask({ offset: 1, limit: 1 })
    expect([digests(page), page.total_rows]).toEqual([[all[1]], 3])
    const none = await ask({ include_rows: false })
    expect([none.rows, none.total_rows]).toEqual([[], 0])
    expect(digests(await ask({ evaluation_call_ids: [], evaluation_run_ids: ['e2'] })).length).toBe(
      2,
    )
    expect((await ask({ evaluation_call_ids: ['none'] })).rows).toEqual([])
  })

  it('filters and sorts rows by scores, outputs and what was given', async () => {
    const { ask, row_digests } = await openEvaluated()
    const [one, two] = row_digests
    const is = (field: string, value: unknown) => ({
      query: { $expr: { $eq: [{ $getField: field }, { $literal: value }] } },
    })
    const cases: [object, string[]][] = [
      [{ filters: [is('outputs', 'B')] }, [one as string]],
      [{ filters: [is('outputs.t', 'C')] }, [two as string]],
      [{ filters: [is('inputs.q', 'two')] }, [two as string]],
      [{ filters: [{ ...is('scores.right', false), evaluation_call_id: 'e2' }] }, []],
      [{ filters: [is('outputs', 'A')], filter_logic_operator: 'and' }, [one as string]],
      [{ filters: [is('outputs', 'B')], filter_logic_operator: 'and' }, []],
      [{ filters: [is('scores.right', true), is('scores.near.d', 0.5)] }, [one as string]],
    ]
    for (const [fields, expected] of cases) {
      expect([fields, digests(await ask(fields))]).toEqual([fields, expected])
    }
    const sorted = async (term: object) =>
      digests(await ask({ evaluation_call_ids: ['e1'], sort_by: [{ direction: 'asc', ...term }] }))
    expect(await sorted({ field: 'inputs.level' })).toEqual([two, one])
    expect(await sorted({ field: 'inputs.level', direction: 'desc' })).toEqual([one, two])
    expect(await sorted({ field: 'scores.near.d' })).toEqual([one, two])
    const byDifference = { field: 'scores.near.d', direction: 'desc', mode: 'difference' }
    expect(digests(await ask({ sort_by: [byDifference] }))[0]).toBe(one)
  })

  it('sums scores up by evaluation', async () => {
    const { ask } = await openEvaluated()
    const { summary } = await ask({ include_summary: true, include_costs: true })
    expect(summary.row_count).toBe(3)
    const [e1] = summary.evaluations
    expect(e1).toMatchObject({
      evaluation_call_id: 'e1',
      evaluation_ref: ref('exam'),
      model_ref: ref('bot'),
      display_name: 'e1',
      trace_id: 'trace',
      trial_count: 3,
      predict_total_tokens: 3000,
      predict_total_cost: 0.0075,
    })
    const stats = { numeric_count: 0, numeric_mean: null, pass_known_count: 0, pass_true_count: 0 }
    const nothing = { ...stats, pass_rate: null, pass_signal_coverage: 0, trial_count: 2 }
    expect(e1.scorer_stats).toEqual([
      {
        ...stats,
        scorer_key: 'right',
        path: null,
        value_type: 'binary',
        trial_count: 3,
        pass_known_count: 3,
        pass_true_count: 2,
        pass_rate: 2 / 3,
        pass_signal_coverage: 1,
      },
      {
        ...nothing,
        scorer_key: 'near',
        path: 'd',
        value_type: 'continuous',
        numeric_count: 2,
        numeric_mean: 0.75,
      },
      { ...nothing, scorer_key: 'near', path: 'why', value_type: 'text' },
    ])
    const narrow = {
      include_summary: true,
      include_rows: false,
      summary_require_intersection: true,
    }
    expect((await ask(narrow)).summary.row_count).toBe(1)
    const empty = await ask({ evaluation_call_ids: [], include_summary: true })
    expect(empty.summary).toEqual({ row_count: 0, evaluations: [] })
  })

  it('measures numbers whose texts are kept: of scores, outputs and rows of datasets', async () => {
    const { app, ask, evaluate } = await openEvaluated()
    const kept = (text: string) => JSON.rawJSON(text)
    const rows = [{ level: kept('10.0') }, { level: kept('9.50') }]
    const table = (await app.post('/table/create', { table: { project_id, rows } })).body
    const [ten, nine]: string[] = table.row_digests
    const example = (row = '') => `weave:///${project_id}/table/${table.digest}/id/${row}`
    const scores = { right: kept('-0.0'), id: kept('9007199254740993') }
    await evaluate('e3', 'bot', [
      { example: example(ten), output: kept('-0.0'), scores },
      { example: example(nine), output: 1, scores: { right: 1 } },
    ])
    const asked = { evaluation_call_ids: ['e3'], include_summary: true }
    const above = (field: string, value: number) => ({
      query: { $expr: { $gt: [{ $getField: field }, { $literal: value }] } },
    })
    const { summary } = await ask(asked)
    expect(summary.evaluations[0].scorer_stats).toMatchObject([
      { scorer_key: 'right', path: null, value_type: 'continuous', numeric_mean: 0.5 },
      { scorer_key: 'id', path: null, value_type: 'continuous', numeric_mean: 2 ** 53 },
    ])
    const cases: [object, (string | undefined)[]][] = [
      [{ filters: [above('inputs.level', 9.75)] }, [ten]],
      [
        { filters: [above('outputs', -1)], sort_by: [{ field: 'outputs', direction: 'asc' }] },
        [ten, nine],
      ],
      [{ sort_by: [{ field: 'inputs.level', direction: 'asc' }] }, [nine, ten]],
      [{ sort_by: [{ field: 'scores.right', direction: 'desc' }] }, [nine, ten]],
    ]
    for (const [fields, expected] of cases) {
      expect([fields, digests(await ask({ ...asked, ...fields }))]).toEqual([fields, expected])
    }
  })

  it('returns a mean of scores whose sum exceeds a double', async () => {
    const { ask, evaluate, examples } = await openEvaluated()
    const result = { example: examples[0], output: 'A', scores: { huge: -1.5e308 } }
    const least = { example: examples[1], output: 'A', scores: { huge: -1.6e308 } }
    await evaluate('e3', 'bot', [result, result])
    await evaluate('e4', 'bot', [result, result, least])
    const { summary } = await ask({ evaluation_call_ids: ['e3'], include_summary: true })
    const [{ numeric_mean }] = summary.evaluations[0].scorer_stats
    expect(numeric_mean).toBe(-1.5e308)
    const sort_by = [{ field: 'scores.huge', direction: 'asc' }]
    const { rows } = await ask({ evaluation_call_ids: ['e4'], sort_by })
    expect(rows.map((row: EvalRow) => row.evaluations[0]?.trials.length)).toEqual([1, 2])
  })

  it('refuses fields and evaluations by name', async () => {
    const { app } = await openEvaluated()
    const cases: [string, object][] = [
      [
        'filters[0].query.$expr.$eq[0].$getField',
        { filters: [{ query: { $expr: { $eq: [{ $getField: 'id' }, { $literal: 1 }] } } }] },
      ],
      ['sort_by[0].field', { sort_by: [{ field: 'id', direction: 'asc' }] }],
      ['sort_by[0].direction', { sort_by: [{ field: 'scores.a', direction: 'up' }] }],
      ['evaluation_call_ids', { evaluation_call_ids: Array(101).fill('x') }],
      ['limit', { limit: 10_001 }],
    ]
    for (const [param, fields] of cases) {
      const { status, body } = await app.post(URL, fields)
      expect([param, status, body.error?.param]).toEqual([param, 422, param])
    }
  })

  it('responds to a project that the key may not use as to any other', async () => {
    const { app } = await openEvaluated()
    const key = await app.createKey({ projects: ['acme/other'] })
    const { status, body } = await app.post(URL, {}, { key })
    expect([status, body.error.code]).toEqual([403, 'project_forbidden'])
  })
})

it('calls below trials are not read without bound', async () => {
  const found = (id: string, fields: object) => {
    const texts = { attributes_json: null, inputs_json: null, otel_dump_json: null }
    const call = { id, op_name: 'op', ...texts, output_json: null, summary_json: null, ...fields }
    return { call: call as unknown as CallTexts, totalStorageSizeBytes: null }
  }
  const trial = { parent_id: 'run', op_name: op('Evaluation.predict_and_score') }
  let listed = 0
  const callsQuery: CallsQueryStore = {
    async *pages() {
      listed += 1
      if (listed === 1) yield [found('trial', { ...trial, inputs_json: '{}' })]
      const children = Array.from({ length: 1001 }, () => found('x', { parent_id: 'trial' }))
      if (listed === 2) for (let page = 0; page < 100; page++) yield children
    },
    count: async () => ({ count: 1, storage_size_bytes: 0 }),
  }
  const { post } = await buildTestApp({ drainTimeoutMs: 60 }, { callsQuery })
  const asked = { evaluation_call_ids: ['run'], include_predict_and_score_children: true }
  const { status, body } = await post(URL, asked)
  expect([status, body.error.param]).toEqual([422, 'evaluation_call_ids'])
  expect(body.error.message).toMatch(/more than 100000 calls below their trials/)
})
