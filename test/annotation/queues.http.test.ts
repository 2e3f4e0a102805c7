import { describe, expect, it } from 'vitest'
import { itRefusesBadRequests } from '../support/bad-requests.ts'
import { buildTestApp, type TestApp } from '../support/build-test-app.ts'
import { createQueue, fillQueue, PROJECT, SCORER } from './annotation-fixtures.ts'

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)

async function list({ post }: TestApp, fields: object, root = '') {
  const { status, text } = await post(`${root}/annotation_queues/query`, {
    project_id: PROJECT,
    ...fields,
  })
  expect(status).toBe(200)
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line))
}

describe.each(['', '/traces'])('annotation queues below %s/', (root) => {
  const urlOf = (id: string) => `${root}/annotation_queues/${id}`

  it('are made, read, changed in part, and deleted', async () => {
    const { post, get, put, delete: remove } = await buildTestApp()
    const made = await post(`${root}/annotation_queues`, {
      project_id: PROJECT,
      name: 'Rate answers',
      scorer_refs: [SCORER],
      ...(root === '' ? {} : { wb_user_id: 'ignored' }),
    })
    const { id } = made.body
    const queue = {
      id,
      project_id: PROJECT,
      name: 'Rate answers',
      description: '',
      scorer_refs: [SCORER],
      queue_type: 'call',
      rules: null,
      created_at: TIME,
      created_by: 'u-1',
      updated_at: TIME,
      deleted_at: null,
    }
    const read = () => get(`${urlOf(id)}?project_id=${PROJECT}`)
    const rules_work = { added: 0, dropped: 0, waiting: 0 }
    expect((await read()).body).toEqual({ queue, rules_work })
    const change = { project_id: PROJECT, description: 'Be\nkind.', name: null }
    const changed = { ...queue, description: 'Be\nkind.' }
    expect((await put(urlOf(id), change)).body).toEqual({ queue: changed })
    const none = await put(urlOf(id), { project_id: PROJECT })
    expect({ ...none.body, rules_work }).toEqual((await read()).body)
    expect((await remove(`${urlOf(id)}?project_id=${PROJECT}`)).body).toEqual({
      queue: { ...changed, deleted_at: TIME },
    })
    for (const answer of [
      await read(),
      await put(urlOf(id), change),
      await remove(`${urlOf(id)}?project_id=${PROJECT}`),
    ]) {
      expect([answer.status, answer.body.error.code]).toEqual([404, 'annotation_queue_not_found'])
    }
  })

  it('are of calls or spans; another queue_type is refused by name and makes no queue', async () => {
    const app = await buildTestApp()
    const make = (queue_type: unknown) =>
      app.post(`${root}/annotation_queues`, {
        project_id: PROJECT,
        name: 'q',
        scorer_refs: [],
        queue_type,
      })
    for (const queue_type of ['trace', 5]) {
      const { status, body } = await make(queue_type)
      expect([status, body.error.param]).toEqual([422, 'queue_type'])
    }
    expect(await list(app, {}, root)).toEqual([])
    for (const queue_type of ['call', null, 'span']) {
      expect((await make(queue_type)).status).toBe(200)
    }
    const types = (await list(app, {}, root)).map(({ queue_type }) => queue_type)
    expect(types).toEqual(['span', 'call', 'call'])
  })

  it('are listed by name and order in pages, without those of others', async () => {
    const app = await buildTestApp()
    for (const name of ['Beta', 'alpha', 'Alphabet', 'gone']) await createQueue(app, { name })
    await createQueue(app, { project_id: 'acme/other', name: 'alpha of others' })
    const [gone] = await list(app, { name: 'gone' })
    await app.delete(`/annotation_queues/${gone.id}?project_id=${PROJECT}`)
    const names = async (fields: object) => (await list(app, fields, root)).map(({ name }) => name)
    expect(await names({})).toEqual(['Alphabet', 'alpha', 'Beta'])
    expect(await names({ name: 'ALPHA' })).toEqual(['Alphabet', 'alpha'])
    const by = (field: string, direction: string) => ({ sort_by: [{ field, direction }] })
    expect(await names(by('created_at', 'asc'))).toEqual(['Beta', 'alpha', 'Alphabet'])
    expect(await names(by('name', 'desc'))).toEqual(['alpha', 'Beta', 'Alphabet'])
    expect(await names({ limit: 1, offset: 1 })).toEqual(['alpha'])
    expect(await names({ project_id: 'acme/empty' })).toEqual([])
  })

  it('are summed up in the order that was asked for', async () => {
    const app = await buildTestApp()
    const { queue, url, items } = await fillQueue(app, 3)
    const empty = await createQueue(app)
    for (const [at, annotation_state] of ['completed', 'skipped', 'in_progress'].entries()) {
      const body = { project_id: PROJECT, annotation_state }
      expect((await app.post(`${url}/${items[at]}/progress`, body)).status).toBe(200)
    }
    const stats = async (project_id: string) => {
      const body = { project_id, queue_ids: [empty, queue, 'unknown'] }
      return (await app.post(`${root}/annotation_queues/stats`, body)).body.stats
    }
    expect(await stats(PROJECT)).toEqual([
      { queue_id: empty, total_items: 0, completed_items: 0 },
      { queue_id: queue, total_items: 3, completed_items: 2 },
      { queue_id: 'unknown', total_items: 0, completed_items: 0 },
    ])
    expect((await stats('acme/other'))[1]).toMatchObject({ total_items: 0 })
  })
})

describe('POST /annotation_queues', () => {
  it.each([
    ['name', { name: '' }],
    ['name', { name: 'a\u0000b' }],
    ['name', { name: 'n'.repeat(257) }],
    ['description', { description: 'd'.repeat(65_537) }],
    ['scorer_refs[0]', { scorer_refs: ['no ref'] }],
    ['scorer_refs', { scorer_refs: Array(101).fill(SCORER) }],
    ['scorer_refs', { scorer_refs: null }],
    ['project_id', { project_id: 'one' }],
  ])('answers validation_failed for a bad %s', async (param, fields) => {
    const { post } = await buildTestApp()
    const body = { project_id: PROJECT, name: 'n', scorer_refs: [], ...fields }
    const { status, body: answer } = await post('/annotation_queues', body)
    expect([status, answer.error.code, answer.error.param]).toEqual([
      422,
      'validation_failed',
      param,
    ])
  })

  itRefusesBadRequests({
    url: '/annotation_queues',
    body: { project_id: PROJECT, name: 'n', scorer_refs: [] },
    scope: 'traces:write',
  })
})

describe('the routes of annotation queues', () => {
  it('need their scope and the project', async () => {
    const app = await buildTestApp()
    const { queue, items } = await fillQueue(app, 1)
    const read = 'traces:read' as const
    const write = 'traces:write' as const
    const project_id = PROJECT
    const of = `/annotation_queues/${queue}`
    const state = { project_id, annotation_state: 'in_progress' }
    const routes = [
      ['post', '/annotation_queues/query', { project_id }, write],
      ['post', '/annotation_queues/stats', { project_id, queue_ids: [] }, write],
      ['get', `${of}?project_id=${PROJECT}`, undefined, write],
      ['put', of, { project_id, name: 'other' }, read],
      ['post', `${of}/items`, { project_id, call_ids: [], display_fields: [] }, read],
      ['post', `${of}/items/query`, { project_id }, write],
      ['post', `${of}/items/${items[0]}/progress`, state, read],
      ['delete', `${of}?project_id=${PROJECT}`, undefined, read],
    ] as const
    const elsewhere = await app.createKey({ projects: ['acme/other'] })
    for (const [method, url, body, wrong] of routes) {
      const send = (key: string | null) =>
        method === 'get' || method === 'delete'
          ? app[method](url, { key })
          : app[method](url, body, { key })
      const codes = []
      for (const key of [null, await app.createKey({ scopes: [wrong] }), elsewhere]) {
        codes.push((await send(key)).body.error?.code)
      }
      expect([url, ...codes]).toEqual([
        url,
        'missing_api_key',
        'scope_missing',
        'project_forbidden',
      ])
      expect([url, (await send(app.key)).status]).toEqual([url, 200])
    }
  })

  it('know no queue of another project', async () => {
    const { post, get, ...app } = await buildTestApp()
    const { queue, items } = await fillQueue({ post, get, ...app }, 1)
    const of = `/annotation_queues/${queue}`
    const project_id = 'acme/other'
    for (const answer of [
      await get(`${of}?project_id=${project_id}`),
      await post(`${of}/items`, { project_id, call_ids: ['c0'], display_fields: [] }),
      await post(`${of}/items/query`, { project_id }),
      await post(`${of}/items/${items[0]}/progress`, { project_id, annotation_state: 'skipped' }),
    ]) {
      expect([answer.status, answer.body.error.code]).toEqual([404, 'annotation_queue_not_found'])
    }
  })
})
