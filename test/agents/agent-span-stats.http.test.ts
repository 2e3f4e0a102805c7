/** Spans by time, and which attributes they carry. */
import { beforeEach, describe, expect, it } from 'vitest'
import type { AgentSpanRow } from '../../src/schemas/agents/agent-spans.ts'
import { buildSpan, spanId, toJsonRequest } from '../otel/otel-fixtures.ts'
import { describeEachStore } from '../store/clickhouse/describe-each-store.ts'
import type { TestApp } from '../support/build-test-app.ts'
import { askAgents, buildAgentsApp, equals, field, PROJECT } from './agents-fixtures.ts'

let test: TestApp
const ask = (path: string, body: object = {}) => askAgents(test, path, body)

describeEachStore('agents', (build) => {
  beforeEach(async () => {
    test = await buildAgentsApp(build)
  })

  describe('POST /agents/spans/stats', () => {
    const window = { start: '2023-11-14T22:13:30Z', end: '2023-11-14T22:14:00Z', granularity: 10 }
    const tokens = {
      alias: 'tokens',
      value: { source: 'derived', key: 'total_tokens' },
      value_type: 'number',
    }

    it('measures by time, every bucket of it', async () => {
      const { status, body } = await ask('spans/stats', {
        ...window,
        metrics: [
          { ...tokens, aggregations: ['sum', 'min', 'count'], percentiles: [50, 99.5] },
          { alias: 'failed', value: { source: 'derived', key: 'is_error' }, value_type: 'boolean' },
        ],
      })
      expect(status).toBe(200)
      expect(body.columns.map(({ name }: { name: string }) => name)).toEqual([
        ...['timestamp', 'sum_tokens', 'min_tokens', 'count_tokens', 'p50_tokens', 'p99_5_tokens'],
        'count_failed',
      ])
      expect(body.rows).toEqual([
        {
          timestamp: '2023-11-14T22:13:30.000000Z',
          sum_tokens: 320,
          min_tokens: 110,
          count_tokens: 2,
          p50_tokens: 160,
          p99_5_tokens: 209.5,
          count_failed: 4,
        },
        {
          timestamp: '2023-11-14T22:13:40.000000Z',
          sum_tokens: 320,
          min_tokens: 110,
          count_tokens: 2,
          p50_tokens: 160,
          p99_5_tokens: 209.5,
          count_failed: 4,
        },
        {
          timestamp: '2023-11-14T22:13:50.000000Z',
          sum_tokens: 0,
          min_tokens: null,
          count_tokens: 0,
          p50_tokens: null,
          p99_5_tokens: null,
          count_failed: 0,
        },
      ])
    })

    it('by group, the largest first', async () => {
      const { body } = await ask('spans/stats', {
        ...window,
        granularity: 60,
        timezone: 'Europe/Berlin',
        group_by: [{ key: 'operation_name', alias: 'step' }],
        group_limit: 1,
        metrics: [tokens],
      })
      expect(body.timezone).toBe('Europe/Berlin')
      expect(body.rows).toEqual([
        { timestamp: '2023-11-14T22:13:00.000000Z', step: 'chat', sum_tokens: 640 },
      ])
    })

    it('has a bucket without spans where no groups are asked for', async () => {
      const empty = { start: '2024-01-01T00:00:00Z', end: '2024-01-01T00:00:20Z', granularity: 10 }
      const { body } = await ask('spans/stats', { ...empty, metrics: [tokens] })
      expect(body.rows).toEqual([
        { timestamp: '2024-01-01T00:00:00.000000Z', sum_tokens: 0 },
        { timestamp: '2024-01-01T00:00:10.000000Z', sum_tokens: 0 },
      ])
      const group_by = [{ key: 'operation_name' }]
      const grouped = await ask('spans/stats', { ...empty, group_by, metrics: [tokens] })
      expect(grouped.body.rows).toEqual([])
    })

    it('the last of several times is returned as a time', async () => {
      const ends = { alias: 'end', value: { key: 'ended_at' }, value_type: 'datetime' }
      const metrics = [{ ...ends, aggregations: ['max', 'count'] }]
      const { body } = await ask('spans/stats', { ...window, granularity: 60, metrics })
      expect(body.rows).toEqual([
        {
          timestamp: '2023-11-14T22:13:00.000000Z',
          max_end: '2023-11-14T22:13:40.900000Z',
          count_end: 8,
        },
      ])
      expect(body.columns.map(({ value_type }: { value_type: string }) => value_type)).toEqual([
        ...['datetime', 'datetime', 'number'],
      ])
    })

    it('refuses what it cannot answer, by its name', async () => {
      const failed = { alias: 'a', value: { source: 'derived', key: 'is_error' } }
      const cases: [string, object, string][] = [
        [
          'a type that the value has not',
          { metrics: [{ ...tokens, value_type: 'string' }] },
          'metrics[0].value_type',
        ],
        [
          'percentiles of truths',
          { metrics: [{ ...failed, value_type: 'boolean', percentiles: [50] }] },
          'metrics[0].percentiles',
        ],
        [
          'more rows than an answer can hold',
          {
            start: '2023-11-14T20:00:00Z',
            end: '2023-11-14T22:40:00Z',
            granularity: 1,
            metrics: [tokens],
            group_by: [{ key: 'span_id' }],
          },
          'group_limit',
        ],
      ]
      for (const [title, body, param] of cases) {
        expect(await ask('spans/stats', { ...window, ...body }), title).toMatchObject({
          status: 422,
          body: { error: { param } },
        })
      }
    })
  })

  it('measures, finds and lists fractions that are whole numbers in some spans', async () => {
    const spans = [0.25, 1, 0, 2].map((share, number) =>
      buildSpan({ span_id: spanId(2000 + number), attributes: { share, whole: number } }),
    )
    const headers = { project_id: PROJECT }
    await test.post('/v1/traces', toJsonRequest(spans), { headers })
    const value = { source: 'custom_attrs_float', key: 'share' }
    const above = { $expr: { $gt: [field('custom_attrs_float.share'), { $literal: 0.5 }] } }
    const { body: found } = await ask('spans/query', {
      query: above,
      custom_attr_columns: [value],
    })
    const shown = found.spans.map((row: AgentSpanRow) => row.custom_attrs_float.share)
    expect(shown.sort()).toEqual([1, 2])
    const { body: grouped } = await ask('spans/query', {
      query: equals('whole', 1),
      group_by: [{ key: 'span_kind' }],
      measures: [{ alias: 'mean', aggregation: 'avg', value }],
    })
    expect(grouped.groups[0].metrics).toEqual({ mean: 1 })
    const { body } = await ask('spans/custom-attrs/schema', { limit: 2 })
    expect(body.attributes).toEqual([
      { key: 'share', source: 'custom_attrs_float', value_type: 'float', span_count: 4 },
      { key: 'whole', source: 'custom_attrs_int', value_type: 'int', span_count: 4 },
    ])
  })

  describe('POST /agents/spans/custom-attrs/schema', () => {
    // The service behind weave 0.54 has the same default.
    it('lists 200 attributes unless another number is asked for', async () => {
      const { body } = await ask('spans/custom-attrs/schema')
      expect([body.limit, body.has_more]).toEqual([200, false])
    })

    it('lists the attributes of spans in pages', async () => {
      const { body } = await ask('spans/custom-attrs/schema', { limit: 3 })
      expect(body).toEqual({
        attributes: [
          { key: 'done', source: 'custom_attrs_bool', value_type: 'bool', span_count: 2 },
          { key: 'ratio', source: 'custom_attrs_float', value_type: 'float', span_count: 2 },
          { key: 'retries', source: 'custom_attrs_int', value_type: 'int', span_count: 2 },
        ],
        has_more: true,
        limit: 3,
        offset: 0,
      })
    })
  })
})
