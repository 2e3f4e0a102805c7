/** Ranges of the measures of groups, distributions of attributes, and buckets of numbers. */
import { beforeEach, describe, expect, it } from 'vitest'
import { buildSpan, spanId, toJsonRequest } from '../otel/otel-fixtures.ts'
import { describeEachStore } from '../store/clickhouse/describe-each-store.ts'
import type { TestApp } from '../support/build-test-app.ts'
import { askAgents, at, equals, PROJECT } from './agents-fixtures.ts'

let test: TestApp
const ask = (path: string, body: object = {}) => askAgents(test, path, body)

const WINDOW = { start: '2023-11-14T22:13:20Z', end: '2023-11-14T22:13:40Z', granularity: 10 }
const byConversation = [{ key: 'conversation_id' }]
const spans = { alias: 'spans', aggregation: 'count' }
const score = { source: 'custom_attrs_float', key: 'score' }

/** Conversation, seconds after the start of the window, input tokens, attributes. */
const SPANS: readonly [string, number, number, object][] = [
  ['a', 0, 0, { score: 0.2, env: 'prod', cached: true }],
  ['b', 1, 5, { score: 0.5, env: 'prod' }],
  ['b', 11, 12, { score: 0.7, env: 'dev', cached: false }],
  ['c', 2, 18, { score: 0.9, env: 'test' }],
  ['c', 3, 22, { retries: 7 }],
  ['c', 12, 40, { score: 1, env: 'dev', retries: 7 }],
]

function buildSpans() {
  return SPANS.map(([conversation, second, tokens, attributes], number) =>
    buildSpan({
      span_id: spanId(100 + number),
      start_ns: at(second * 1000),
      end_ns: at(second * 1000 + 10 * number),
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.conversation.id': conversation,
        'gen_ai.usage.input_tokens': tokens,
        ...attributes,
      },
    }),
  )
}

const keysOf = (body: { groups: { group_keys: Record<string, string> }[] }) =>
  body.groups.map(({ group_keys }) => group_keys.conversation_id)

describeEachStore('groups of spans', (build) => {
  beforeEach(async () => {
    test = await build()
    const headers = { project_id: PROJECT }
    expect((await test.post('/v1/traces', toJsonRequest(buildSpans()), { headers })).status).toBe(
      200,
    )
  })

  describe('group_filters of POST /agents/spans/query', () => {
    const list = (...group_filters: object[]) =>
      ask('spans/query', { group_by: byConversation, group_filters })

    it('lists and counts the groups whose measure is in the range, with its ends', async () => {
      const { status, body } = await list({ measure: spans, min: 1, max: 2 })
      expect(status).toBe(200)
      expect([keysOf(body), body.total_count]).toEqual([['b', 'a'], 2])
      expect(body.groups[0].metrics).toEqual({})
    })

    it('lists the groups that meet all filters', async () => {
      const failed = { ...spans, filter: equals('custom_attrs_string.env', 'dev') }
      const { body } = await list({ measure: spans, min: 3 }, { measure: failed, min: 1, max: 1 })
      expect(keysOf(body)).toEqual(['c'])
    })

    it('compares times with date-times of any zone', async () => {
      const measure = { alias: 'last', aggregation: 'max', value: { key: 'started_at' } }
      const { body } = await list({ measure, min: '2023-11-14T23:13:32+01:00' })
      expect(keysOf(body)).toEqual(['c'])
    })

    it('leaves out groups whose measure has no value', async () => {
      const value = { source: 'custom_attrs_int', key: 'retries' }
      const { body } = await list({ measure: { alias: 'most', aggregation: 'max', value }, min: 0 })
      expect(keysOf(body)).toEqual(['c'])
    })
  })

  describe('group_distributions of POST /agents/spans/query', () => {
    it('counts the values of attributes in each group', async () => {
      const { status, body } = await ask('spans/query', {
        group_by: [{ key: 'operation_name' }],
        group_distributions: [
          { alias: 'scores', value: score, bins: 2 },
          { alias: 'retries', value: { source: 'custom_attrs_int', key: 'retries' } },
          { alias: 'envs', value: { source: 'custom_attrs_string', key: 'env' }, top_n: 2 },
          { alias: 'cached', value: { source: 'custom_attrs_bool', key: 'cached' } },
        ],
      })
      expect(status).toBe(200)
      const [{ distributions }] = body.groups
      expect(distributions.scores).toMatchObject({
        alias: 'scores',
        source: 'custom_attrs_float',
        key: 'score',
        value_type: 'float',
        total_count: 6,
        present_count: 5,
        missing_count: 1,
        other_count: 0,
        values: [],
        bins: [
          { index: 0, min: 0.2, max: expect.closeTo(0.6, 9), count: 2 },
          { index: 1, min: expect.closeTo(0.6, 9), max: 1, count: 3 },
        ],
      })
      expect(distributions.retries).toMatchObject({
        value_type: 'int',
        present_count: 2,
        missing_count: 4,
        bins: [{ index: 0, min: 7, max: 7, count: 2 }],
      })
      expect(distributions.envs).toMatchObject({
        value_type: 'string',
        present_count: 5,
        other_count: 1,
        bins: [],
        values: [
          { value: 'dev', count: 2 },
          { value: 'prod', count: 2 },
        ],
      })
      expect(distributions.cached).toMatchObject({
        value_type: 'bool',
        present_count: 2,
        values: [
          { value: 'false', count: 1 },
          { value: 'true', count: 1 },
        ],
      })
    })
  })

  describe('group_filters of POST /agents/spans/stats', () => {
    const users = { alias: 'talks', value: { key: 'conversation_id' }, value_type: 'string' }
    const metrics = [{ ...users, aggregations: ['count_distinct', 'count'] }]
    const tokens = {
      alias: 'tokens',
      aggregation: 'sum',
      value_type: 'number',
      value: { source: 'derived', key: 'total_tokens' },
    }
    const count = async (body: object) =>
      (await ask('spans/stats', { ...WINDOW, metrics, ...body })).body.rows.map(
        (row: Record<string, number>) => [row.count_distinct_talks, row.count_talks],
      )

    it('counts the spans of the conversations that the whole window qualifies', async () => {
      expect(await count({ group_filters: [{ measure: tokens, min: 17, max: 17 }] })).toEqual([
        [1, 1],
        [1, 1],
      ])
    })

    it('forms groups by the values of the filter', async () => {
      const group_by = [{ source: 'custom_attrs_string', key: 'env' }]
      expect(await count({ group_filters: [{ group_by, measure: spans, min: 2 }] })).toEqual([
        [2, 2],
        [2, 2],
      ])
    })
  })

  describe('buckets of numbers in POST /agents/spans/stats', () => {
    const bucketsBy = (bucket_by: object, more: object = {}) =>
      ask('spans/stats', { ...WINDOW, bucket_by: { type: 'number', ...bucket_by }, ...more })
    const failed = { alias: 'spans', value: { source: 'derived', key: 'is_error' } }
    const metrics = [{ ...failed, value_type: 'boolean' }]

    it('measures spans by ranges of a value', async () => {
      const value = { key: 'usage.input_tokens' }
      const { status, body } = await bucketsBy({ value, bins: 4 }, { metrics })
      expect(status).toBe(200)
      expect(body).toMatchObject({ bucket_type: 'number', granularity: null })
      expect(body.columns).toMatchObject([
        { name: 'bucket_index', role: 'bucket', value_type: 'number', metric: 'value' },
        { name: 'bucket_min', role: 'bucket' },
        { name: 'bucket_max', role: 'bucket' },
        { name: 'count_spans', role: 'metric', metric: 'spans', aggregation: 'count' },
      ])
      expect(body.rows).toEqual([
        { bucket_index: 0, bucket_min: 0, bucket_max: 10, count_spans: 2 },
        { bucket_index: 1, bucket_min: 10, bucket_max: 20, count_spans: 2 },
        { bucket_index: 2, bucket_min: 20, bucket_max: 30, count_spans: 1 },
        { bucket_index: 3, bucket_min: 30, bucket_max: 40, count_spans: 1 },
      ])
    })

    it('measures only spans between given bounds, in every range between them', async () => {
      const value = { key: 'input_tokens' }
      const { body } = await bucketsBy({ value, bins: 2, min: 5, max: 25 })
      expect(body.rows).toEqual([
        { bucket_index: 0, bucket_min: 5, bucket_max: 15, count: 2 },
        { bucket_index: 1, bucket_min: 15, bucket_max: 25, count: 2 },
      ])
      const beyond = await bucketsBy({ value, bins: 2, min: 41, max: 43 })
      expect(beyond.body.rows).toMatchObject([{ count: 0 }, { count: 0, bucket_max: 43 }])
      expect((await bucketsBy({ value, min: 41 })).body.rows).toEqual([])
    })

    it('measures spans of qualified conversations', async () => {
      const value = { key: 'input_tokens' }
      const group_filters = [{ measure: spans, max: 2 }]
      const { body } = await bucketsBy({ value, bins: 1 }, { group_filters })
      expect(body.rows).toEqual([{ bucket_index: 0, bucket_min: 0, bucket_max: 12, count: 3 }])
    })

    it('counts groups by ranges of their measure', async () => {
      const measure = { alias: 'mean', aggregation: 'avg', value: score }
      const { body } = await bucketsBy({ group_by: byConversation, measure, bins: 2 })
      expect(body.rows).toEqual([
        { bucket_index: 0, bucket_min: 0.2, bucket_max: expect.closeTo(0.575, 9), count: 1 },
        { bucket_index: 1, bucket_min: expect.closeTo(0.575, 9), bucket_max: 0.95, count: 2 },
      ])
      expect(body.columns.at(-1)).toMatchObject({ name: 'count', aggregation: 'count' })
    })

    it('counts only groups that meet the filters', async () => {
      const group_filters = [{ group_by: byConversation, measure: spans, min: 2 }]
      const grouped = { group_by: byConversation, measure: spans, bins: 2 }
      const { body } = await bucketsBy(grouped, { group_filters })
      expect(body.rows).toMatchObject([
        { bucket_min: 2, count: 1 },
        { bucket_max: 3, count: 1 },
      ])
    })

    it('has no rows without values', async () => {
      const value = { source: 'custom_attrs_float', key: 'nothing' }
      expect((await bucketsBy({ value })).body.rows).toEqual([])
    })
  })

  it('refuses ranges, distributions and buckets that mean nothing, by their names', async () => {
    const value = { key: 'input_tokens' }
    const last = { alias: 'last', aggregation: 'max', value: { key: 'started_at' } }
    const metric = { alias: 'a', value, value_type: 'number' }
    const filter = { measure: spans, min: 1 }
    const distribution = { alias: 'a', value: score }
    const grouped = { type: 'number', group_by: byConversation, measure: spans }
    const other = { group_by: [{ key: 'trace_id' }], ...filter }
    const cases: [string, 'query' | 'stats', object, string][] = [
      ['no range', 'query', { group_filters: [{ measure: spans }] }, 'group_filters[0]'],
      [
        'a range upside down',
        'query',
        { group_filters: [{ ...filter, max: 0 }] },
        'group_filters[0].max',
      ],
      [
        'a number for a time',
        'query',
        { group_filters: [{ measure: last, min: 1 }] },
        'group_filters[0].min',
      ],
      [
        'a time for a number',
        'query',
        { group_filters: [{ measure: spans, max: WINDOW.end }] },
        'group_filters[0].max',
      ],
      [
        'other text than a time',
        'query',
        { group_filters: [{ measure: last, min: 'x' }] },
        'group_filters[0].min',
      ],
      ['other groups', 'query', { group_filters: [other] }, 'group_filters[0].group_by'],
      [
        'filters without groups',
        'query',
        { group_by: [], group_filters: [filter] },
        'group_filters',
      ],
      [
        'distributions without groups',
        'query',
        { group_by: null, group_distributions: [distribution] },
        'group_distributions',
      ],
      [
        'distributions of one name',
        'query',
        { group_distributions: [distribution, distribution] },
        'alias',
      ],
      [
        'a distribution of a field',
        'query',
        { group_distributions: [{ alias: 'a', value: { source: 'field', key: 'x' } }] },
        'group_distributions[0].value.source',
      ],
      ['no metric of time', 'stats', { metrics: [] }, 'metrics'],
      ['a range of time', 'stats', { bucket_by: { min: 0 }, metrics: [metric] }, 'bucket_by.type'],
      ['no value', 'stats', { bucket_by: { type: 'number' } }, 'bucket_by'],
      ['a value and groups', 'stats', { bucket_by: { ...grouped, value } }, 'bucket_by'],
      [
        'a measure without groups',
        'stats',
        { bucket_by: { type: 'number', measure: spans } },
        'bucket_by',
      ],
      [
        'ranges of texts',
        'stats',
        { bucket_by: { type: 'number', value: { key: 'tool_name' } } },
        'bucket_by.value',
      ],
      [
        'ranges of times',
        'stats',
        { bucket_by: { ...grouped, measure: last } },
        'bucket_by.measure',
      ],
      [
        'bounds upside down',
        'stats',
        { bucket_by: { type: 'number', value, min: 2, max: 1 } },
        'bucket_by.max',
      ],
      [
        'too many ranges',
        'stats',
        { bucket_by: { type: 'number', value, bins: 201 } },
        'bucket_by.bins',
      ],
      ['metrics of groups', 'stats', { bucket_by: grouped, metrics: [metric] }, 'metrics'],
      ['groups of groups', 'stats', { bucket_by: grouped, group_by: byConversation }, 'group_by'],
      [
        'filters of other groups',
        'stats',
        { bucket_by: grouped, group_filters: [other] },
        'group_filters[0].group_by',
      ],
      [
        'one name twice',
        'stats',
        {
          bucket_by: { type: 'number', value },
          group_by: [{ key: 'tool_name', alias: 'bucket_min' }],
        },
        'alias',
      ],
    ]
    for (const [title, path, body, param] of cases) {
      const common = path === 'query' ? { group_by: byConversation } : WINDOW
      expect(await ask(`spans/${path}`, { ...common, ...body }), title).toMatchObject({
        status: 422,
        body: { error: { param } },
      })
    }
  })
})
