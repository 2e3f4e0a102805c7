/** Requests for statistics that are refused. */
import { describe, expect, it } from 'vitest'
import { itRefusesBadRequests } from '../support/bad-requests.ts'
import { buildTestApp } from '../support/build-test-app.ts'
import { ask, buildFilledApp, COUNTS, URL } from './support/stats-fixtures.ts'

describe('POST /calls/stats', () => {
  itRefusesBadRequests({ url: URL, body: COUNTS, scope: 'traces:read' })

  describe('403', () => {
    it('answers project_forbidden for a project outside of the key', async () => {
      const app = await buildFilledApp()
      const key = await app.createKey({ projects: ['beta/*'] })
      const { status, body } = await app.post(URL, COUNTS, { key })
      expect([status, body.error.code]).toEqual([403, 'project_forbidden'])
    })
  })

  describe('422', () => {
    const spec = (fields: Record<string, unknown>) => [{ metric: 'call_count', ...fields }]
    const many = (length: number, value: unknown) => Array.from({ length }, () => value)
    it.each([
      ['project_id', undefined],
      ['project_id', null],
      ['project_id', 7],
      ['project_id', 'noslash'],
      ['start', undefined],
      ['start', null],
      ['start', 1_767_225_600],
      ['start', 'yesterday'],
      ['end', 7],
      ['end', '2026-13-01T00:00:00Z'],
      ['end', '2026-01-01T09:59:59.999999Z'],
      ['granularity', 0],
      ['granularity', -1],
      ['granularity', 1.5],
      ['granularity', '300'],
      ['granularity', 4e9],
      ['timezone', null],
      ['timezone', 7],
      ['timezone', ''],
      ['timezone', 'Mars/Olympus'],
      ['timezone', '+01:00'],
      ['timezone', `Europe/${'x'.repeat(100)}`],
      ['filter', 'all'],
      ['filter', []],
      ['call_metrics', 'call_count'],
      ['call_metrics', {}],
      ['usage_metrics', 7],
      ['call_metrics', many(51, { metric: 'call_count' })],
      ['usage_metrics', many(51, { metric: 'total_cost' })],
      ['call_metrics', spec({ metric: undefined }), 'call_metrics[0].metric'],
      ['call_metrics', spec({ metric: null }), 'call_metrics[0].metric'],
      ['call_metrics', spec({ metric: 'total_tokens' }), 'call_metrics[0].metric'],
      ['usage_metrics', spec({}), 'usage_metrics[0].metric'],
      ['call_metrics', ['call_count'], 'call_metrics[0]'],
      ['call_metrics', spec({ name: 'x' }), 'call_metrics[0].name'],
      ['call_metrics', spec({ aggregations: null }), 'call_metrics[0].aggregations'],
      ['call_metrics', spec({ aggregations: 'sum' }), 'call_metrics[0].aggregations'],
      ['call_metrics', spec({ aggregations: ['median'] }), 'call_metrics[0].aggregations[0]'],
      ['call_metrics', spec({ aggregations: many(21, 'sum') }), 'call_metrics[0].aggregations'],
      ['call_metrics', spec({ percentiles: null }), 'call_metrics[0].percentiles'],
      ['call_metrics', spec({ percentiles: 50 }), 'call_metrics[0].percentiles'],
      ['call_metrics', spec({ percentiles: ['50'] }), 'call_metrics[0].percentiles[0]'],
      ['call_metrics', spec({ percentiles: [-0.1] }), 'call_metrics[0].percentiles[0]'],
      ['call_metrics', spec({ percentiles: [50, 100.1] }), 'call_metrics[0].percentiles[1]'],
      ['call_metrics', spec({ percentiles: many(21, 5) }), 'call_metrics[0].percentiles'],
      ['metrics', []],
    ])('refuses §4.4 %s = %j', async (field, value, param = field) => {
      const app = await buildTestApp()
      const { status, body } = await ask(app, { [field as string]: value })
      expect([status, body.error.code, body.error.param]).toEqual([422, 'validation_failed', param])
    })

    it('refuses a start in the future without an end', async () => {
      const app = await buildTestApp()
      const { status, body } = await ask(app, { start: '2250-01-01T00:00:00Z', end: null })
      expect([status, body.error.code, body.error.param]).toEqual([422, 'validation_failed', 'end'])
    })

    it('lists the allowed names in its message', async () => {
      const app = await buildTestApp()
      const metric = await ask(app, { usage_metrics: [{ metric: 'tokens' }] })
      for (const name of ['input_tokens', 'cache_creation_input_tokens', 'total_cost']) {
        expect(metric.body.error.message).toContain(name)
      }
      const aggregation = await ask(app, { call_metrics: spec({ aggregations: ['median'] }) })
      for (const name of ['sum', 'avg', 'count_false']) {
        expect(aggregation.body.error.message).toContain(name)
      }
    })
  })
})
