/** Tables that are stored and changed. */
import { describe, expect, it } from 'vitest'
import vectors from '../json/python-digests.json' with { type: 'json' }
import { itRefusesBadRequests } from '../support/bad-requests.ts'
import { buildTestApp } from '../support/build-test-app.ts'
import { itRefusesBadFields, PROJECT, readRows, storeTable, tableOf } from './object-fixtures.ts'

const UNKNOWN = 'f'.repeat(64)

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
    expect((await storeTable(app, [])).digest).toBe(vectors.empty_table)
    const twice = await storeTable(app, [{ a: 1 }, { a: 1 }])
    expect(await storeTable(app, [{ a: 1 }, { a: 1 }])).toEqual(twice)
    expect(await readRows(app, twice.digest)).toEqual([{ a: 1 }, { a: 1 }])
    expect(await readRows(app, vectors.empty_table)).toEqual([])
  })

  it('keeps what clients store below /traces untouched', async () => {
    const { post } = await buildTestApp()
    const rows = [{ wb_user_id: 1, svc_user_id: 2 }]
    const sent = { table: { ...tableOf(rows).table, expected_digest: null, extra: 1 } }
    const { body: made } = await post('/traces/table/create', sent)
    const { body } = await post('/traces/table/query', { project_id: PROJECT, digest: made.digest })
    expect(body.rows[0].val).toEqual(rows[0])
  })

  it('responds with digest_mismatch for another expected digest and stores nothing', async () => {
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
    const base = await storeTable(app, [{ n: 0 }, { n: 1 }])
    const { body } = await app.post('/table/update', {
      project_id: PROJECT,
      base_digest: base.digest,
      updates: [
        { append: { row: { n: 2 } } },
        { pop: { index: 0 } },
        { insert: { index: 2, row: { n: 9 } } },
      ],
    })
    const [two, nine] = (await storeTable(app, [{ n: 2 }, { n: 9 }])).row_digests
    expect(body.updated_row_digests).toEqual([two, base.row_digests[0], nine])
    expect(body.digest).toBe((await storeTable(app, [{ n: 1 }, { n: 2 }, { n: 9 }])).digest)
    expect(await readRows(app, body.digest)).toEqual([{ n: 1 }, { n: 2 }, { n: 9 }])
    expect(await readRows(app, base.digest)).toEqual([{ n: 0 }, { n: 1 }])
  })

  it('digests rows by their text', async () => {
    const app = await buildTestApp()
    const base = await storeTable(app, [])
    const text = `{"project_id":"acme/demo","base_digest":"${base.digest}","updates":
      [ {"append" : {"row": {"b":1.0, "a":2}}}, {"insert":{"row":{"x":1e5},"index":0}} ]}`
    const { body } = await app.post('/table/update', text)
    const { text: response } = await app.post('/table/query', {
      project_id: PROJECT,
      digest: body.digest,
    })
    expect(response).toContain('"val":{"x":1e5}')
    expect(response).toContain('"val":{"b":1.0, "a":2}')
  })

  it('responds with validation_failed for changes that are malformed or lie outside of the table', async () => {
    const app = await buildTestApp()
    const { digest: base_digest } = await storeTable(app, [{ n: 0 }, { n: 1 }])
    const list: [string, unknown][] = [
      ['updates[0].pop.index', [{ pop: { index: 2 } }]],
      ['updates[1].insert.index', [{ pop: { index: 0 } }, { insert: { index: 2, row: {} } }]],
      ['updates', Array(1001).fill({ insert: { index: 0, row: {} } })],
      ['updates[0].append.row', [{ append: { row: 7 } }]],
      ['updates[0].append.row', [{ append: {} }]],
      ['updates[0].pop.index', [{ pop: { index: -1 } }]],
      ['updates[0].pop.index', [{ pop: { index: '0' } }]],
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

  it('responds with table_not_found for an unknown or foreign base', async () => {
    const app = await buildTestApp()
    const { digest: base_digest } = await storeTable(app, [{ n: 0 }])
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
    const { row_digests } = await storeTable(app, [{ n: 0 }, { n: 1 }])
    const [zero, one] = row_digests
    const { body } = await app.post('/table/create_from_digests', {
      project_id: PROJECT,
      row_digests: [one, zero, one],
    })
    expect(await readRows(app, body.digest)).toEqual([{ n: 1 }, { n: 0 }, { n: 1 }])
    const probe = { project_id: PROJECT, row_digests: [], expected_digest: null }
    expect((await app.post('/table/create_from_digests', probe)).body.digest).toBe(
      vectors.empty_table,
    )
  })

  it('accepts no row of another project', async () => {
    const app = await buildTestApp()
    const { row_digests } = await storeTable(app, [{ n: 0 }])
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

  it('responds with digest_mismatch for another expected digest', async () => {
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
