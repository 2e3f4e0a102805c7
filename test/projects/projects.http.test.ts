import { describe, expect, it } from 'vitest'
import { postForm } from '../objects/object-fixtures.ts'
import { itRefusesBadRequests } from '../support/bad-requests.ts'
import { buildTestApp, type TestApp } from '../support/build-test-app.ts'

const PROJECT = 'acme/demo'

/** A project with a call, objects, a table and a file. */
async function fill(app: TestApp): Promise<void> {
  const publish = (object_id: string, val: unknown) =>
    app.post('/obj/create', { obj: { project_id: PROJECT, object_id, val } })
  await publish('a', 'four')
  await publish('b', 'four')
  await publish('b', 'deleted')
  await app.post('/obj/delete', { project_id: PROJECT, object_id: 'b', digests: ['latest'] })
  await app.post('/table/create', { table: { project_id: PROJECT, rows: [{ a: 1 }, { a: 1 }] } })
  await postForm(app, '/file/create', { project_id: PROJECT, file: '0123456789' })
  const start = {
    project_id: PROJECT,
    id: 'c',
    op_name: 'op',
    started_at: '2026-01-31T12:00:00Z',
    attributes: {},
    inputs: { text: 'some' },
  }
  await app.post('/call/start', { start })
}

describe.each(['', '/traces'])('POST %s/project/stats', (root) => {
  it('sums up the contents of a project, only as far as requested', async () => {
    const app = await buildTestApp()
    await fill(app)
    const { body } = await app.post(`${root}/project/stats`, { project_id: PROJECT })
    const counted = await app.post('/calls/query_stats', {
      project_id: PROJECT,
      include_total_storage_size: true,
    })
    expect(body).toEqual({
      trace_storage_size_bytes: counted.body.total_storage_size_bytes,
      objects_storage_size_bytes: 2 * '"four"'.length,
      tables_storage_size_bytes: 2 * '{"a":1}'.length,
      files_storage_size_bytes: 10,
    })
    expect(body.trace_storage_size_bytes).toBeGreaterThan(0)
    const some = await app.post(`${root}/project/stats`, {
      project_id: PROJECT,
      include_trace_storage_size: false,
      include_table_storage_size: false,
      include_object_storage_size: true,
      include_file_storage_size: false,
    })
    expect(some.body).toEqual({
      trace_storage_size_bytes: 0,
      objects_storage_size_bytes: 12,
      tables_storage_size_bytes: 0,
      files_storage_size_bytes: 0,
    })
    const other = await app.post(`${root}/project/stats`, { project_id: 'acme/empty' })
    expect(Object.values(other.body)).toEqual([0, 0, 0, 0])
  })
})

describe('POST /project/stats', () => {
  it('answers project_forbidden for a project of others', async () => {
    const { post, createKey } = await buildTestApp()
    const key = await createKey({ projects: ['acme/other'] })
    const { status, body } = await post('/project/stats', { project_id: PROJECT }, { key })
    expect([status, body.error.code]).toEqual([403, 'project_forbidden'])
  })

  itRefusesBadRequests({
    url: '/project/stats',
    body: { project_id: PROJECT },
    scope: 'traces:read',
  })
})

describe('POST /service/projects_info', () => {
  it('names the projects that the key may use', async () => {
    const { post, createKey } = await buildTestApp()
    const key = await createKey({ projects: ['acme/*'] })
    const body = { project_ids: ['acme/b', 'other/c', 'acme/a'] }
    for (const root of ['', '/traces']) {
      const answer = await post(`${root}/service/projects_info`, body, { key })
      expect(answer.body).toEqual([
        { external_project_id: 'acme/b', internal_project_id: 'acme/b' },
        { external_project_id: 'acme/a', internal_project_id: 'acme/a' },
      ])
    }
  })

  it('refuses more than 1,000 and what is no project', async () => {
    const { post } = await buildTestApp()
    for (const [project_ids, param] of [
      [Array(1001).fill('a/b'), 'project_ids'],
      [['a/b', 'no project'], 'project_ids[1]'],
    ]) {
      const { status, body } = await post('/service/projects_info', { project_ids })
      expect([status, body.error.param]).toEqual([422, param])
    }
  })

  itRefusesBadRequests({
    url: '/service/projects_info',
    body: { project_ids: [] },
    scope: 'traces:read',
  })
})
