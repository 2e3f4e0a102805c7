import { describe, expect, it } from 'vitest'
import { itRefusesBadRequests } from '../support/bad-requests.ts'
import { buildTestApp, type TestApp } from '../support/build-test-app.ts'
import { itRefusesBadFields, OP_VAL, objectOf, PROJECT, tableOf } from './object-fixtures.ts'

const URL = '/refs/read_batch'
const BASE = `weave:///${PROJECT}`

async function publish({ post }: TestApp, object_id: string, val: unknown, project_id = PROJECT) {
  return (await post('/obj/create', objectOf({ object_id, val, project_id }))).body.digest as string
}

async function read({ post }: TestApp, ...refs: string[]) {
  const { status, body } = await post(URL, { refs })
  return status === 200 ? body.vals : [status, body.error.code, body.error.param]
}

/** A dataset of two rows, and an object that points at it. */
async function setUp() {
  const app = await buildTestApp()
  const { body: table } = await app.post(
    '/table/create',
    tableOf([{ n: 1 }, { 'a/b': [{ k: 2 }] }]),
  )
  const other = await app.post('/table/create', tableOf([{ n: 3 }]))
  const tableRef = `${BASE}/table/${table.digest}`
  const dataset = await publish(app, 'ds', { _type: 'Dataset', rows: tableRef })
  await publish(app, 'holder', {
    dataset: `${BASE}/object/ds:${dataset}`,
    list: [[1], { x: null }],
  })
  await publish(app, 'op', OP_VAL)
  return {
    app,
    tableRef,
    rows: table.row_digests as string[],
    foreignRow: other.body.row_digests[0],
  }
}

describe('POST /refs/read_batch', () => {
  it('reads objects, ops and tables, in order and as often as asked', async () => {
    const { app, tableRef } = await setUp()
    const rows = [{ n: 1 }, { 'a/b': [{ k: 2 }] }]
    const refs = [`${BASE}/op/op:v0`, tableRef, `${BASE}/op/op:latest`, tableRef]
    expect(await read(app, ...refs)).toEqual([OP_VAL, rows, OP_VAL, rows])
    expect(await read(app)).toEqual([])
  })

  it('reads what has spaces in its project or its alias', async () => {
    const app = await buildTestApp()
    const project_id = 'my team/my project'
    const digest = await publish(app, 'thing', { a: 1 }, project_id)
    await app.put('/objs/thing/aliases', { project_id, digest, aliases: ['in use'] })
    const ref = `weave:///${project_id}/object/thing:in use`
    const holder = await publish(app, 'holder', { thing: ref }, project_id)
    const inner = `weave:///${project_id}/object/holder:${holder}/key/thing/key/a`
    expect(await read(app, ref, `${ref}/key/a`, inner)).toEqual([{ a: 1 }, 1, 1])
  })

  it('follows edges, through refs and tables on the way', async () => {
    const { app, tableRef, rows } = await setUp()
    const [first, second] = rows
    const paths = [
      [`${BASE}/object/ds:latest/attr/rows`, tableRef],
      [`${BASE}/object/ds:latest/attr/rows/id/${first}`, { n: 1 }],
      [`${BASE}/object/ds:latest/attr/rows/id/${first}/key/n`, 1],
      [`${BASE}/object/ds:latest/attr/rows/index/1/key/a%2Fb/index/0/key/k`, 2],
      [
        `${BASE}/object/holder:latest/key/dataset/attr/rows/id/${second}/key/a%2Fb/index/0`,
        { k: 2 },
      ],
      [`${BASE}/object/holder:v0/key/list/index/0/index/0`, 1],
      [`${tableRef}/id/${second}`, { 'a/b': [{ k: 2 }] }],
    ] as const
    expect(await read(app, ...paths.map(([ref]) => ref))).toEqual(paths.map(([, value]) => value))
  })

  it('responds with null when the path leads to nothing', async () => {
    const { app, tableRef, foreignRow } = await setUp()
    const paths = [
      'object/holder:v0/key/none',
      'object/holder:v0/key/toString',
      'object/holder:v0/key/__proto__',
      'object/holder:v0/key/list/key/length',
      'object/holder:v0/key/list/index/9',
      'object/holder:v0/key/list/index/1/key/x',
      'object/holder:v0/key/list/index/1/key/x/key/y',
      'object/holder:v0/index/0',
      'object/holder:v0/id/abc',
      'object/ds:v0/attr/rows/index/2',
      'object/ds:v0/attr/rows/key/0',
      'object/ds:v0/attr/rows/id/unknown',
      `object/ds:v0/attr/rows/id/${foreignRow}`,
    ]
    const refs = [...paths.map((path) => `${BASE}/${path}`), `${tableRef}/attr/rows`]
    expect(await read(app, ...refs)).toEqual(refs.map(() => null))
  })

  it('gives back every number as it was sent', async () => {
    const { post } = await buildTestApp()
    const val = '{"f":1.0,"big":12345678901234567890}'
    await post('/obj/create', `{"obj":{"project_id":"acme/demo","object_id":"o","val":${val}}}`)
    const { text } = await post(URL, { refs: [`${BASE}/object/o:v0`, `${BASE}/object/o:v0/key/f`] })
    expect(text).toBe(`{"vals":[${val},1.0]}`)
  })

  it('answers not found by the ref for what is unknown or of a project that is not the caller’s', async () => {
    const { app, tableRef } = await setUp()
    await publish(app, 'ds', { secret: 1 }, 'other/demo')
    const good = `${BASE}/object/ds:v0`
    const digest = tableRef.split('/').at(-1)
    for (const [ref, code] of [
      [`${BASE}/object/none:latest`, 'object_not_found'],
      [`${BASE}/object/ds:v7`, 'object_not_found'],
      [`${BASE}/table/${'f'.repeat(64)}`, 'table_not_found'],
      [`weave:///other/demo/table/${digest}`, 'table_not_found'],
    ] as const) {
      expect(await read(app, good, ref)).toEqual([404, code, 'refs[1]'])
    }
    const key = await app.createKey({ projects: ['acme/*'] })
    const foreign = { refs: ['weave:///other/demo/object/ds:v0'] }
    expect((await app.post(URL, foreign)).body.vals).toEqual([{ secret: 1 }])
    const { status, body } = await app.post(URL, foreign, { key })
    expect([status, body.error.code]).toEqual([404, 'object_not_found'])
  })

  it('goes through no ref into a project that is not the caller’s', async () => {
    const app = await buildTestApp()
    await publish(app, 'secret', { a: 1 }, 'other/demo')
    await publish(app, 'bridge', { to: 'weave:///other/demo/object/secret:v0' })
    const key = await app.createKey({ projects: ['acme/*'] })
    const refs = [`${BASE}/object/bridge:v0/key/to/key/a`]
    expect((await app.post(URL, { refs })).body.vals).toEqual([1])
    expect((await app.post(URL, { refs }, { key })).body.vals).toEqual([null])
  })

  it('responds with null for a deleted object', async () => {
    const { app } = await setUp()
    await app.post('/obj/delete', { project_id: PROJECT, object_id: 'ds' })
    expect(await read(app, `${BASE}/object/ds:v0`, `${BASE}/object/ds:v0/attr/rows`)).toEqual([
      null,
      null,
    ])
    expect(await read(app, `${BASE}/object/holder:v0/key/dataset/attr/rows`)).toEqual([null])
  })

  it('ends where refs lead in circles', async () => {
    const app = await buildTestApp()
    await publish(app, 'loop', { me: `${BASE}/object/loop:latest/key/me/key/me` })
    expect(await read(app, `${BASE}/object/loop:latest/key/me/key/me`)).toEqual([null])
  })

  it('refuses refs that lead to more than an answer may have', async () => {
    const app = await buildTestApp()
    await publish(app, 'big', 'x'.repeat(20_000_000))
    const ref = `${BASE}/object/big:v0`
    expect(await read(app, ref, ref, ref, ref)).toEqual([422, 'validation_failed', 'refs'])
  })

  itRefusesBadFields(URL, { refs: [] }, [
    ['refs', { refs: undefined }],
    ['refs', { refs: null }],
    ['refs', { refs: 'x' }],
    ['refs', { refs: Array(1001).fill(`${BASE}/object/a:b`) }],
    ['refs[0]', { refs: [7] }],
    ['refs[0]', { refs: [`${BASE}/object/a:b${'/key/a'.repeat(400)}`] }],
    ['refs[1]', { refs: [`${BASE}/object/a:b`, 'no ref'] }],
    ['refs[0]', { refs: [`${BASE}/call/abc`] }],
    ['refs[0]', { refs: [`${BASE}/object/a`] }],
    ['refs[0]', { refs: [`${BASE}/object/a:b/key`] }],
    ['refs[0]', { refs: [`${BASE}/object/a:b/hop/a`] }],
    ['refs[0]', { refs: [`${BASE}/object/a:b/index/x`] }],
    ['extra', { extra: 1 }],
  ])

  itRefusesBadRequests({ url: URL, body: { refs: [] }, scope: 'traces:read' })
})
