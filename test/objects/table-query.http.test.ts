/** Tables that are read and counted, and who may ask. */
import { describe, expect, it } from 'vitest'
import { itRefusesBadRequests } from '../support/bad-requests.ts'
import { buildTestApp } from '../support/build-test-app.ts'
import { itRefusesBadFields, PROJECT, readRows, storeTable, tableOf } from './object-fixtures.ts'

const UNKNOWN = 'f'.repeat(64)

describe('POST /table/query', () => {
  const ROWS = [
    { n: 2, t: { k: 'b' } },
    { n: 1.5, t: { k: 'a' } },
    { n: 'x', t: [1, 2] },
    {},
    { n: 2, t: { k: 'a' } },
  ]

  it('answers digests and places with the rows', async () => {
    const app = await buildTestApp()
    const { digest, row_digests } = await storeTable(app, ROWS)
    const { body } = await app.post('/table/query', { project_id: PROJECT, digest })
    expect(body.rows).toEqual(
      ROWS.map((val, original_index) => ({
        digest: row_digests[original_index],
        val,
        original_index,
      })),
    )
  })

  it.each([
    [{}, [0, 1, 2, 3, 4]],
    [{ filter: null, sort_by: null, limit: null, offset: null }, [0, 1, 2, 3, 4]],
    [{ limit: 2 }, [0, 1]],
    [{ limit: 2, offset: 4 }, [4]],
    [{ offset: 9 }, []],
    [{ limit: 0 }, []],
    [{ sort_by: [{ field: 'n', direction: 'asc' }] }, [1, 0, 4, 2, 3]],
    [{ sort_by: [{ field: 'n', direction: 'desc' }] }, [0, 4, 1, 2, 3]],
    [
      {
        sort_by: [
          { field: 't.k', direction: 'asc' },
          { field: 'n', direction: 'desc' },
        ],
        limit: 3,
      },
      [4, 1, 0],
    ],
    [{ sort_by: [{ field: 'n', direction: 'desc' }], offset: 1, limit: 2 }, [4, 1]],
    [{ sort_by: [{ field: 't.1', direction: 'asc' }] }, [2, 0, 1, 3, 4]],
    // As in queries, a list has no field but its entries.
    [{ sort_by: [{ field: 't.length', direction: 'asc' }] }, [0, 1, 2, 3, 4]],
    [{ sort_by: [] }, [0, 1, 2, 3, 4]],
  ])('answers the places of %j', async (fields, expected) => {
    const app = await buildTestApp()
    const { digest } = await storeTable(app, ROWS)
    const { body } = await app.post('/table/query', { project_id: PROJECT, digest, ...fields })
    expect(body.rows.map((row: { original_index: number }) => row.original_index)).toEqual(expected)
  })

  it('filters by digests, in the order of the table or sorted', async () => {
    const app = await buildTestApp()
    const { digest, row_digests } = await storeTable(app, [...ROWS, {}])
    const filter = { row_digests: [row_digests[4], row_digests[3], row_digests[1], 'unknown'] }
    const places = async (fields: object) => {
      const request = { project_id: PROJECT, digest, filter, ...fields }
      const { body } = await app.post('/table/query', request)
      return body.rows.map((row: { original_index: number }) => row.original_index)
    }
    expect(await places({})).toEqual([1, 3, 4, 5])
    expect(await places({ offset: 1, limit: 2 })).toEqual([3, 4])
    expect(await places({ sort_by: [{ field: 'n', direction: 'desc' }] })).toEqual([4, 1, 3, 5])
    expect(await places({ filter: { row_digests: [] } })).toHaveLength(6)
    expect(await places({ filter: { row_digests: ['unknown'] } })).toEqual([])
  })

  it('reads tables of many blocks', async () => {
    const app = await buildTestApp()
    const rows = Array.from({ length: 3000 }, (_, n) => ({ n: n % 2500 }))
    const { digest } = await storeTable(app, rows)
    expect(await readRows(app, digest)).toEqual(rows)
    expect(await readRows(app, digest, { offset: 1020, limit: 10 })).toEqual(rows.slice(1020, 1030))
  })

  it('responds with table_not_found for an unknown or foreign table', async () => {
    const app = await buildTestApp()
    const { digest } = await storeTable(app, ROWS)
    for (const url of ['/table/query', '/table/query_stats']) {
      for (const fields of [{ digest: UNKNOWN }, { digest, project_id: 'acme/other' }]) {
        const { status, body } = await app.post(url, { project_id: PROJECT, ...fields })
        expect([status, body.error.code, body.error.param]).toEqual([
          404,
          'table_not_found',
          'digest',
        ])
      }
    }
  })

  itRefusesBadFields('/table/query', { project_id: PROJECT, digest: UNKNOWN }, [
    ['digest', { digest: undefined }],
    ['digest', { digest: 'a:b' }],
    ['filter', { filter: [] }],
    ['filter.extra', { filter: { extra: 1 } }],
    ['filter.row_digests', { filter: { row_digests: 'x' } }],
    ['limit', { limit: -1 }],
    ['limit', { limit: '1' }],
    ['offset', { offset: -1 }],
    ['sort_by', { sort_by: Array(5).fill({ field: 'n', direction: 'asc' }) }],
    ['sort_by[0].field', { sort_by: [{ field: '', direction: 'asc' }] }],
    ['sort_by[0].direction', { sort_by: [{ field: 'n', direction: 'down' }] }],
    ['extra', { extra: 1 }],
  ])

  itRefusesBadRequests({
    url: '/table/query',
    body: { project_id: PROJECT, digest: UNKNOWN },
    scope: 'traces:read',
  })
})

describe('POST /table/query_stats', () => {
  it('counts the rows', async () => {
    const app = await buildTestApp()
    const { digest } = await storeTable(app, [{}, {}, { a: 1 }])
    const { body } = await app.post('/table/query_stats', { project_id: PROJECT, digest })
    expect(body).toEqual({ count: 3 })
  })

  itRefusesBadFields('/table/query_stats', { project_id: PROJECT, digest: UNKNOWN }, [
    ['digest', { digest: null }],
    ['extra', { extra: 1 }],
  ])

  itRefusesBadRequests({
    url: '/table/query_stats',
    body: { project_id: PROJECT, digest: UNKNOWN },
    scope: 'traces:read',
  })
})

describe('POST /table/query_stats_batch', () => {
  it('counts the tables that exist, with their bytes when asked', async () => {
    const app = await buildTestApp()
    const { digest } = await storeTable(app, [{ a: 1 }, { a: 1 }])
    const request = { project_id: PROJECT, digests: [UNKNOWN, digest] }
    const plain = await app.post('/table/query_stats_batch', request)
    expect(plain.body).toEqual({ tables: [{ digest, count: 2 }] })
    const sized = await app.post('/table/query_stats_batch', {
      ...request,
      include_storage_size: true,
    })
    expect(sized.body.tables[0].storage_size_bytes).toBe(14)
    const none = await app.post('/table/query_stats_batch', { project_id: PROJECT })
    expect(none.body).toEqual({ tables: [] })
  })

  itRefusesBadFields('/table/query_stats_batch', { project_id: PROJECT }, [
    ['digests', { digests: 'x' }],
    ['digests[0]', { digests: [1] }],
    ['include_storage_size', { include_storage_size: 1 }],
    ['extra', { extra: 1 }],
  ])

  itRefusesBadRequests({
    url: '/table/query_stats_batch',
    body: { project_id: PROJECT },
    scope: 'traces:read',
  })
})

it('responds with project_forbidden on all table routes for a key of another project', async () => {
  const app = await buildTestApp()
  const { digest } = await storeTable(app, [{}])
  const key = await app.createKey({ projects: ['other/*'] })
  for (const [url, body] of [
    ['/table/create', tableOf([])],
    ['/table/update', { project_id: PROJECT, base_digest: digest, updates: [] }],
    ['/table/create_from_digests', { project_id: PROJECT, row_digests: [] }],
    ['/table/query', { project_id: PROJECT, digest }],
    ['/table/query_stats', { project_id: PROJECT, digest }],
    ['/table/query_stats_batch', { project_id: PROJECT, digests: [digest] }],
  ] as const) {
    const { status, body: response } = await app.post(url, body, { key })
    expect([url, status, response.error.code]).toEqual([url, 403, 'project_forbidden'])
  }
})
