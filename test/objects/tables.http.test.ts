import { describe, expect, it } from 'vitest'
import vectors from '../json/python-digests.json' with { type: 'json' }
import { itRefusesBadRequests } from '../support/bad-requests.ts'
import { buildTestApp, type TestApp } from '../support/build-test-app.ts'
import { itRefusesBadFields, PROJECT, tableOf } from './object-fixtures.ts'

const UNKNOWN = 'f'.repeat(64)

/** Stores a table and gives back its digests. */
async function store({ post }: TestApp, rows: readonly object[]) {
  const { body } = await post('/table/create', tableOf(rows))
  return body as { digest: string; row_digests: string[] }
}

async function rowsOf({ post }: TestApp, digest: string, fields: object = {}) {
  const { body } = await post('/table/query', { project_id: PROJECT, digest, ...fields })
  return body.rows.map((row: { val: unknown }) => row.val)
}

describe('POST /table/create', () => {
  it('answers the digests that Python clients compute', async () => {
    const { post } = await buildTestApp()
    const { rows_text, row_digests, digest } = vectors.table
    const text = `{"table":{"rows":[${rows_text.join(' ,')}] ,"project_id":"acme/demo"}}`
    const { status, body } = await post('/table/create', text)
    expect([status, body]).toEqual([200, { digest, row_digests }])
  })

  it('stores no rows, the same row twice, and the same table twice', async () => {
    const app = await buildTestApp()
    expect((await store(app, [])).digest).toBe(vectors.empty_table)
    const twice = await store(app, [{ a: 1 }, { a: 1 }])
    expect(await store(app, [{ a: 1 }, { a: 1 }])).toEqual(twice)
    expect(await rowsOf(app, twice.digest)).toEqual([{ a: 1 }, { a: 1 }])
    expect(await rowsOf(app, vectors.empty_table)).toEqual([])
  })

  it('keeps what clients store below /traces untouched', async () => {
    const { post } = await buildTestApp()
    const rows = [{ wb_user_id: 1, svc_user_id: 2 }]
    const sent = { table: { ...tableOf(rows).table, expected_digest: null, extra: 1 } }
    const { body: made } = await post('/traces/table/create', sent)
    const { body } = await post('/traces/table/query', { project_id: PROJECT, digest: made.digest })
    expect(body.rows[0].val).toEqual(rows[0])
  })

  it('answers digest_mismatch for another expected digest and stores nothing', async () => {
    const { post } = await buildTestApp()
    const rows = [{ a: 1 }]
    const request = { table: { ...tableOf(rows).table, expected_digest: UNKNOWN } }
    const { status, body } = await post('/table/create', request)
    expect([status, body.error.code]).toEqual([409, 'digest_mismatch'])
    const row_digests = ['XdhgKMbg1k4iUYb5astpM4ssWXZN95FiEH9cS7NNExA']
    const again = await post('/table/create_from_digests', { project_id: PROJECT, row_digests })
    expect(again.status).toBe(422)
  })

  itRefusesBadFields('/table/create', {}, [
    ['table', {}],
    ['table', { table: [] }],
    ['table.project_id', { table: { rows: [] } }],
    ['table.rows', { table: { project_id: PROJECT } }],
    ['table.rows', { table: { project_id: PROJECT, rows: {} } }],
    ['table.rows', { table: { project_id: PROJECT, rows: null } }],
    ['table.rows[1]', { table: { project_id: PROJECT, rows: [{}, 7] } }],
    ['table.rows[0]', { table: { project_id: PROJECT, rows: [[]] } }],
    ['table.rows[0]', { table: { project_id: PROJECT, rows: [null] } }],
    ['table.expected_digest', { table: { ...tableOf([]).table, expected_digest: 7 } }],
    ['table.extra', { table: { ...tableOf([]).table, extra: 7 } }],
    ['extra', { ...tableOf([]), extra: 7 }],
  ])

  itRefusesBadRequests({ url: '/table/create', body: tableOf([]), scope: 'traces:write' })
})

describe('POST /table/update', () => {
  it('answers the new table and the rows that changed', async () => {
    const app = await buildTestApp()
    const base = await store(app, [{ n: 0 }, { n: 1 }])
    const { body } = await app.post('/table/update', {
      project_id: PROJECT,
      base_digest: base.digest,
      updates: [
        { append: { row: { n: 2 } } },
        { pop: { index: 0 } },
        { insert: { index: 2, row: { n: 9 } } },
      ],
    })
    const [two, nine] = (await store(app, [{ n: 2 }, { n: 9 }])).row_digests
    expect(body.updated_row_digests).toEqual([two, base.row_digests[0], nine])
    expect(body.digest).toBe((await store(app, [{ n: 1 }, { n: 2 }, { n: 9 }])).digest)
    expect(await rowsOf(app, body.digest)).toEqual([{ n: 1 }, { n: 2 }, { n: 9 }])
    expect(await rowsOf(app, base.digest)).toEqual([{ n: 0 }, { n: 1 }])
  })

  it('digests rows by their text', async () => {
    const app = await buildTestApp()
    const base = await store(app, [])
    const text = `{"project_id":"acme/demo","base_digest":"${base.digest}","updates":
      [ {"append" : {"row": {"b":1.0, "a":2}}}, {"insert":{"row":{"x":1e5},"index":0}} ]}`
    const { body } = await app.post('/table/update', text)
    const { text: answer } = await app.post('/table/query', {
      project_id: PROJECT,
      digest: body.digest,
    })
    expect(answer).toContain('"val":{"x":1e5}')
    expect(answer).toContain('"val":{"b":1.0, "a":2}')
  })

  it('answers validation_failed for changes that are malformed or lie outside of the table', async () => {
    const app = await buildTestApp()
    const { digest: base_digest } = await store(app, [{ n: 0 }, { n: 1 }])
    const list: [string, unknown][] = [
      ['updates[0].pop.index', [{ pop: { index: 2 } }]],
      ['updates[1].insert.index', [{ pop: { index: 0 } }, { insert: { index: 2, row: {} } }]],
      ['updates', Array(1001).fill({ insert: { index: 0, row: {} } })],
      ['updates[0]', [{ append: { row: 7 } }]],
      ['updates[0]', [{ append: {} }]],
      ['updates[0].pop.index', [{ pop: { index: -1 } }]],
      ['updates[0]', [{ pop: { index: '0' } }]],
      ['updates[0]', [{ drop: {} }]],
      ['updates[0]', [{}]],
      ['updates', 7],
      ['updates', null],
      ['updates', undefined],
    ]
    const params: unknown[] = []
    for (const [, updates] of list) {
      const request = { project_id: PROJECT, base_digest, updates }
      const { status, body } = await app.post('/table/update', request)
      params.push([status, body.error?.param])
    }
    expect(params).toEqual(list.map(([param]) => [422, param]))
  })

  itRefusesBadFields('/table/update', { project_id: PROJECT, base_digest: UNKNOWN, updates: [] }, [
    ['base_digest', { base_digest: undefined }],
    ['base_digest', { base_digest: 'a/b' }],
    ['project_id', { project_id: null }],
    ['extra', { extra: 1 }],
  ])

  it('answers table_not_found for an unknown or foreign base', async () => {
    const app = await buildTestApp()
    const { digest: base_digest } = await store(app, [{ n: 0 }])
    for (const fields of [{ base_digest: UNKNOWN }, { base_digest, project_id: 'acme/other' }]) {
      const request = { project_id: PROJECT, updates: [], ...fields }
      const { status, body } = await app.post('/table/update', request)
      expect([status, body.error.code, body.error.param]).toEqual([
        404,
        'table_not_found',
        'base_digest',
      ])
    }
  })

  itRefusesBadRequests({
    url: '/table/update',
    body: { project_id: PROJECT, base_digest: UNKNOWN, updates: [] },
    scope: 'traces:write',
  })
})

describe('POST /table/create_from_digests', () => {
  it('makes a table of stored rows, in any order and number', async () => {
    const app = await buildTestApp()
    const { row_digests } = await store(app, [{ n: 0 }, { n: 1 }])
    const [zero, one] = row_digests
    const { body } = await app.post('/table/create_from_digests', {
      project_id: PROJECT,
      row_digests: [one, zero, one],
    })
    expect(await rowsOf(app, body.digest)).toEqual([{ n: 1 }, { n: 0 }, { n: 1 }])
    const probe = { project_id: PROJECT, row_digests: [], expected_digest: null }
    expect((await app.post('/table/create_from_digests', probe)).body.digest).toBe(
      vectors.empty_table,
    )
  })

  it('takes no row of another project', async () => {
    const app = await buildTestApp()
    const { row_digests } = await store(app, [{ n: 0 }])
    const { status, body } = await app.post('/table/create_from_digests', {
      project_id: 'acme/other',
      row_digests,
    })
    expect([status, body.error.param]).toEqual([422, 'row_digests[0]'])
  })

  itRefusesBadFields('/table/create_from_digests', { project_id: PROJECT, row_digests: [] }, [
    ['row_digests', { row_digests: undefined }],
    ['row_digests', { row_digests: 'x' }],
    ['row_digests[0]', { row_digests: [7] }],
    ['row_digests[0]', { row_digests: ['unknown'] }],
    ['expected_digest', { expected_digest: 7 }],
    ['project_id', { project_id: 'x' }],
    ['extra', { extra: 1 }],
  ])

  it('answers digest_mismatch for another expected digest', async () => {
    const { post } = await buildTestApp()
    const request = { project_id: PROJECT, row_digests: [], expected_digest: UNKNOWN }
    const { status, body } = await post('/table/create_from_digests', request)
    expect([status, body.error.code]).toEqual([409, 'digest_mismatch'])
  })

  itRefusesBadRequests({
    url: '/table/create_from_digests',
    body: { project_id: PROJECT, row_digests: [] },
    scope: 'traces:write',
  })
})

describe('POST /table/query', () => {
  const ROWS = [
    { n: 2, t: { k: 'b' } },
    { n: 1.5, t: { k: 'a' } },
    { n: 'x' },
    {},
    { n: 2, t: { k: 'a' } },
  ]

  it('answers digests and places with the rows', async () => {
    const app = await buildTestApp()
    const { digest, row_digests } = await store(app, ROWS)
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
    [{ sort_by: [] }, [0, 1, 2, 3, 4]],
  ])('answers the places of %j', async (fields, expected) => {
    const app = await buildTestApp()
    const { digest } = await store(app, ROWS)
    const { body } = await app.post('/table/query', { project_id: PROJECT, digest, ...fields })
    expect(body.rows.map((row: { original_index: number }) => row.original_index)).toEqual(expected)
  })

  it('filters by digests, in the order of the table or sorted', async () => {
    const app = await buildTestApp()
    const { digest, row_digests } = await store(app, [...ROWS, {}])
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
    const { digest } = await store(app, rows)
    expect(await rowsOf(app, digest)).toEqual(rows)
    expect(await rowsOf(app, digest, { offset: 1020, limit: 10 })).toEqual(rows.slice(1020, 1030))
  })

  it('answers table_not_found for an unknown or foreign table', async () => {
    const app = await buildTestApp()
    const { digest } = await store(app, ROWS)
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
    const { digest } = await store(app, [{}, {}, { a: 1 }])
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
    const { digest } = await store(app, [{ a: 1 }, { a: 1 }])
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

it('answers project_forbidden on all table routes for a key of another project', async () => {
  const app = await buildTestApp()
  const { digest } = await store(app, [{}])
  const key = await app.createKey({ projects: ['other/*'] })
  for (const [url, body] of [
    ['/table/create', tableOf([])],
    ['/table/update', { project_id: PROJECT, base_digest: digest, updates: [] }],
    ['/table/create_from_digests', { project_id: PROJECT, row_digests: [] }],
    ['/table/query', { project_id: PROJECT, digest }],
    ['/table/query_stats', { project_id: PROJECT, digest }],
    ['/table/query_stats_batch', { project_id: PROJECT, digests: [digest] }],
  ] as const) {
    const { status, body: answer } = await app.post(url, body, { key })
    expect([url, status, answer.error.code]).toEqual([url, 403, 'project_forbidden'])
  }
})
