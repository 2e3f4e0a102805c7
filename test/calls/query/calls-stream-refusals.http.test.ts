/** Queries of calls that are refused. */
import { describe, expect, it } from 'vitest'
import { itRefusesBadRequests } from '../../support/bad-requests.ts'
import { buildTestApp } from '../../support/build-test-app.ts'
import { PROJECT, url } from './stream-fixtures.ts'

describe('POST /calls/stream_query', () => {
  describe('401, 403, 400, 405, 415', () => {
    itRefusesBadRequests({ url, body: { project_id: PROJECT }, scope: 'traces:read' })

    it('responds with project_forbidden', async () => {
      const { post, createKey } = await buildTestApp()
      const key = await createKey({ projects: ['beta/*'] })
      expect((await post(url, { project_id: PROJECT }, { key })).status).toBe(403)
    })
  })

  describe('422', () => {
    const rows: [string, unknown][] = [
      ['project_id', undefined],
      ['project_id', 'x'],
      ['filter', 'x'],
      ['filter.more', { more: [] }],
      ['filter.op_names', { op_names: 'x' }],
      ['query', []],
      ['query.more', { more: 1 }],
      ['limit', -1],
      ['limit', 1.5],
      ['limit', '5'],
      ['offset', -1],
      ['sort_by', {}],
      ['sort_by[0].direction', [{ field: 'id', direction: 'up' }]],
      ['sort_by[0].field', [{ field: '', direction: 'asc' }]],
      ['sort_by', Array.from({ length: 17 }, () => ({ field: 'id', direction: 'asc' }))],
      ['columns', 'id'],
      ['columns[0]', [5]],
      ['expand_columns', 5],
      ['include_costs', 'yes'],
      ['include_feedback', 1],
      ['include_storage_size', 'x'],
      ['include_total_storage_size', 'x'],
      ['include_usernames', 'x'],
      ['return_expanded_column_values', 'x'],
      ['more', 1],
    ]
    it.each(rows)('responds with validation_failed for a bad %s', async (param, value) => {
      const { post } = await buildTestApp()
      const field = /^\w+/.exec(param)?.[0] ?? param
      const { status, body } = await post(url, { project_id: PROJECT, [field]: value })
      const expected = field === 'query' ? expect.stringMatching(/^query/) : param
      expect([status, body.error.code, body.error.param]).toEqual([
        422,
        'validation_failed',
        expected,
      ])
    })

    it.each([
      [
        'sort_by[1].field',
        {
          sort_by: [
            { field: 'id', direction: 'asc' },
            { field: 'x.y', direction: 'asc' },
          ],
        },
      ],
      ['columns[1]', { columns: ['id', 'secret'] }],
      ['expand_columns[1]', { expand_columns: ['inputs.x', 'summary.x'] }],
      ['sort_by', { sort_by: [{ field: 'feedback.score', direction: 'asc' }] }],
      ['query', { query: { $expr: { $not: [{ $getField: 'feedback.[x].secret' }] } } }],
      [
        'query.$expr.$eq[0].$getField',
        { query: { $expr: { $eq: [{ $getField: 'x' }, { $literal: 1 }] } } },
      ],
    ])('responds with query_invalid for an unknown field in %s', async (param, query) => {
      const { post } = await buildTestApp()
      for (const at of [url, '/calls/query_stats']) {
        if (at !== url && !('query' in query || 'expand_columns' in query)) continue
        const { status, body } = await post(at, { project_id: PROJECT, ...query })
        expect([status, body.error.code, body.error.param]).toEqual([422, 'query_invalid', param])
      }
    })
  })
})
