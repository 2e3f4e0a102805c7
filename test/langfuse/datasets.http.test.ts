import { describe, expect, it } from 'vitest'
import { buildTestApp } from '../support/build-test-app.ts'

const BASE = '/api/public'
const project = 'acme/demo'

async function openDatasets() {
  const app = await buildTestApp()
  const key = await app.createKey({ projects: [project] })
  return {
    ...app,
    key,
    dataset: (body: object) => app.post(`${BASE}/v2/datasets`, body, { key }),
    item: (body: object) =>
      app.post(`${BASE}/dataset-items`, { datasetName: 'd', ...body }, { key }),
    items: async (query = '') =>
      (await app.get(`${BASE}/dataset-items?datasetName=d${query}`, { key })).body,
  }
}

const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id)

describe('datasets of Langfuse’s SDKs', () => {
  it('are created, changed, read and listed', async () => {
    const { dataset, get, key } = await openDatasets()
    const first = await dataset({ name: 'qa/en', description: 'D', metadata: { a: 1 } })
    expect(first.body).toMatchObject({ name: 'qa/en', description: 'D', metadata: { a: 1 } })
    const second = await dataset({ name: 'qa/en', metadata: { b: 2 } })
    expect(second.body).toMatchObject({ id: first.body.id, description: 'D', metadata: { b: 2 } })
    expect(second.body.createdAt).toBe(first.body.createdAt)
    await dataset({ name: 'd' })
    const read = await get(`${BASE}/v2/datasets/${encodeURIComponent('qa/en')}`, { key })
    expect(read.body.id).toBe(first.body.id)
    const { body } = await get(`${BASE}/v2/datasets?limit=1&page=2`, { key })
    expect(body).toMatchObject({ data: [{ name: 'qa/en' }], meta: { totalItems: 2 } })
    expect((await get(`${BASE}/v2/datasets/none`, { key })).status).toBe(404)
  })

  it('have their items as rows, which the page shows', async () => {
    const { dataset, item, items, post } = await openDatasets()
    await dataset({ name: 'd' })
    const created = await item({ id: 'i1', input: { q: 1 }, expectedOutput: 'a', metadata: null })
    expect(created.body).toMatchObject({
      id: 'i1',
      status: 'ACTIVE',
      input: { q: 1 },
      expectedOutput: 'a',
      datasetId: 'd',
      datasetName: 'd',
      mediaReferences: [],
    })
    await item({ input: 'second' })
    expect((await items()).data).toMatchObject([{ input: { q: 1 } }, { input: 'second' }])
    const { obj } = (
      await post('/obj/read', { project_id: project, object_id: 'd', digest: 'latest' })
    ).body
    expect(obj).toMatchObject({ base_object_class: 'Dataset', version_index: 2 })
    const rows = await post('/table/query', {
      project_id: project,
      digest: obj.val.rows.split('/').at(-1),
    })
    expect(rows.text).toContain('"expected_output":"a"')
  })

  it('keep of an item what a later request leaves out', async () => {
    const { dataset, item, items } = await openDatasets()
    await dataset({ name: 'd' })
    const first = (await item({ id: 'i', input: 1, metadata: { m: 1 }, sourceTraceId: 't' })).body
    await item({ id: 'j', input: 2 })
    await item({ id: 'i', expectedOutput: 'x' })
    const { data } = await items()
    expect(data).toMatchObject([
      { id: 'i', input: 1, expectedOutput: 'x', metadata: { m: 1 }, createdAt: first.createdAt },
      { id: 'j' },
    ])
    expect(idsOf(await items('&sourceTraceId=t'))).toEqual(['i'])
  })

  it('take items that arrive at once, each', async () => {
    const { dataset, item, items } = await openDatasets()
    await dataset({ name: 'd' })
    const ids = Array.from({ length: 30 }, (_, at) => `i${at}`)
    const statuses = await Promise.all(
      ids.map(async (id) => (await item({ id, input: id })).status),
    )
    expect(new Set(statuses)).toEqual(new Set([200]))
    const page = await items('&limit=20&page=2')
    expect(page.meta).toEqual({ page: 2, limit: 20, totalItems: 30, totalPages: 2 })
    expect(idsOf(await items('&limit=100')).sort()).toEqual(ids.sort())
  })

  it('keep the fields and the items of requests that arrive at once', async () => {
    const { dataset, item, items, get, key } = await openDatasets()
    const fields = { description: 'D', metadata: { a: 1 }, inputSchema: { type: 'object' } }
    const names = Object.keys(fields) as (keyof typeof fields)[]
    const created = names.map((field) => dataset({ name: 'd', [field]: fields[field] }))
    for (const { status } of await Promise.all(created)) expect(status).toBe(200)
    expect((await get(`${BASE}/v2/datasets/d`, { key })).body).toMatchObject(fields)
    const changed = [item({ id: 'a' }), dataset({ name: 'd', description: 'E' }), item({ id: 'b' })]
    for (const { status } of await Promise.all(changed)) expect(status).toBe(200)
    expect(idsOf(await items()).sort()).toEqual(['a', 'b'])
    expect((await get(`${BASE}/v2/datasets/d`, { key })).body.description).toBe('E')
  })

  it('are created again after a deletion, without items', async () => {
    const { dataset, item, items, post } = await openDatasets()
    await dataset({ name: 'd' })
    await item({ id: 'a' })
    await post('/obj/delete', { project_id: project, object_id: 'd' })
    expect((await dataset({ name: 'd' })).status).toBe(200)
    expect(idsOf(await items())).toEqual([])
  })

  it('leave archived items out of lists, and are read as they were at a time', async () => {
    const { dataset, item, items, get, key } = await openDatasets()
    await dataset({ name: 'd' })
    const { updatedAt } = (await item({ id: 'a', input: 1 })).body
    await item({ id: 'b', input: 2 })
    await item({ id: 'a', status: 'ARCHIVED' })
    expect(idsOf(await items())).toEqual(['b'])
    expect(idsOf(await items(`&version=${updatedAt}`))).toEqual(['a'])
    expect(idsOf(await items('&version=2000-01-01T00:00:00Z'))).toEqual([])
    expect((await get(`${BASE}/dataset-items/a`, { key })).body.status).toBe('ARCHIVED')
  })

  it('find an item by its id alone, and remove it with an entry in the audit list', async () => {
    const app = await openDatasets()
    const { dataset, item, items, get, key } = app
    for (const name of ['d', 'e']) await dataset({ name })
    await item({ id: 'a', input: 1 })
    await item({ id: 'b', input: 2, datasetName: 'e' })
    expect((await get(`${BASE}/dataset-items/b`, { key })).body.datasetName).toBe('e')
    expect((await app.delete(`${BASE}/dataset-items/a`, { key })).status).toBe(200)
    expect(idsOf(await items())).toEqual([])
    expect((await get(`${BASE}/dataset-items/a`, { key })).status).toBe(404)
    expect((await app.delete(`${BASE}/dataset-items/a`, { key })).status).toBe(404)
    const [entry] = (await get('/v1/audit')).body.data
    expect(entry).toMatchObject({ action: 'objects.delete', before: { item: 'a' } })
  })

  it('of other clients are items, whose columns are the input', async () => {
    const { items, post } = await openDatasets()
    const rows = [
      { question: 'q', expected_output: 'a' },
      { input: 1, expected: 2 },
    ]
    await post(`/v2/${project}/datasets`, { name: 'd', rows })
    const { data } = await items()
    expect(data[0]).toMatchObject({ input: { question: 'q' }, expectedOutput: 'a' })
    expect(data[1]).toMatchObject({ input: 1 })
    expect(data[0].id).toMatch(/^\w{43}$/)
  })

  it('of other clients have the name of their object where theirs leads to another one', async () => {
    const { get, delete: remove, post, key } = await openDatasets()
    await post(`/v2/${project}/datasets`, { name: 'My data', rows: [{ input: 1 }] })
    const [{ name }] = (await get(`${BASE}/v2/datasets`, { key })).body.data
    expect(name).toBe('my_data')
    expect((await get(`${BASE}/v2/datasets/${name}`, { key })).body.name).toBe(name)
    const listed = await get(`${BASE}/dataset-items?datasetName=${name}`, { key })
    const [id] = idsOf(listed.body)
    expect((await remove(`${BASE}/dataset-items/${id}`, { key })).status).toBe(200)
  })

  it('refuse items of no dataset, and names of other objects', async () => {
    const { item, dataset, post } = await openDatasets()
    const { status, body } = await item({ input: 1 })
    expect({ status, message: body.message }).toEqual({
      status: 404,
      message: 'There is no dataset "d".',
    })
    await post('/obj/create', { obj: { project_id: project, object_id: 'd', val: 1 } })
    expect((await dataset({ name: 'd' })).status).toBe(409)
  })
})
