/** How many calls a query finds. */
import { describe, expect, it } from 'vitest'
import { itRefusesBadRequests } from '../../support/bad-requests.ts'
import { buildTestApp } from '../../support/build-test-app.ts'
import { list, PROJECT, seed } from './stream-fixtures.ts'

describe('POST /calls/query_stats', () => {
  const stats = '/calls/query_stats'

  it.each([
    [{}, 3, false],
    [{ limit: 2 }, 2, true],
    [{ limit: 3 }, 3, false],
    [{ limit: 0 }, 0, true],
    [{ filter: { op_names: ['x'] } }, 1, false],
    [{ query: { $expr: { $eq: [{ $getField: 'exception' }, { $literal: null }] } } }, 2, false],
    [
      { query: { $expr: { $gt: [{ $getField: 'inputs.n' }, { $literal: 1 }] } }, limit: 1 },
      1,
      true,
    ],
  ])('counts %j as %d', async (query, count, has_more) => {
    const app = await buildTestApp()
    await seed(app)
    const { status, body } = await app.post(stats, { project_id: PROJECT, ...query })
    expect([status, body]).toEqual([200, { count, has_more, total_storage_size_bytes: null }])
  })

  it.each([{}, { limit: 2 }, { query: { $expr: { $eq: [{ $literal: 1 }, { $literal: 1 }] } } }])(
    'sums the bytes of the counted calls of %j',
    async (query) => {
      const app = await buildTestApp()
      await seed(app)
      const asked = { project_id: PROJECT, include_total_storage_size: true, ...query }
      const { body } = await app.post(stats, asked)
      const calls = await list(app, { include_storage_size: true })
      const all = calls.map(({ storage_size_bytes }) => storage_size_bytes)
      const sums = all.flatMap((one, n) => all.slice(n).map((two) => one + two))
      if ('limit' in query) expect(sums).toContain(body.total_storage_size_bytes)
      else expect(body.total_storage_size_bytes).toBe(all.reduce((sum, bytes) => sum + bytes, 0))
    },
  )

  itRefusesBadRequests({ url: stats, body: { project_id: PROJECT }, scope: 'traces:read' })

  it.each([
    ['project_id', null],
    ['filter', 5],
    ['query', 5],
    ['limit', -1],
    ['expand_columns', 'x'],
    ['include_total_storage_size', 5],
    ['offset', 5],
  ])('responds with validation_failed for a bad %s', async (param, value) => {
    const { post } = await buildTestApp()
    const { status, body } = await post(stats, { project_id: PROJECT, [param]: value })
    expect([status, body.error.code, body.error.param]).toEqual([422, 'validation_failed', param])
  })
})
