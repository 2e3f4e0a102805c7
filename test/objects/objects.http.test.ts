/** Objects that are read, listed and deleted. */
import { describe, expect, it } from 'vitest'
import type { ObjectSchema } from '../../src/schemas/objects/object.ts'
import { itRefusesBadRequests } from '../support/bad-requests.ts'
import { buildTestApp } from '../support/build-test-app.ts'
import {
  itRefusesBadFields,
  MODEL_VAL,
  OP_VAL,
  objectOf,
  PROJECT,
  publish,
} from './object-fixtures.ts'

const NAME = { project_id: PROJECT, object_id: 'thing' }

describe('POST /obj/read', () => {
  it('reads by latest, by number and by digest', async () => {
    const app = await buildTestApp()
    const [first, second] = await publish(app, { a: 1 }, { a: 2 })
    const read = async (digest: string | undefined) =>
      (await app.post('/obj/read', { ...NAME, digest })).body.obj.val.a
    expect(await Promise.all(['latest', 'v0', 'v1', first, second].map(read))).toEqual([
      2, 1, 2, 1, 2,
    ])
  })

  it('gives back every number as it was sent', async () => {
    const { post } = await buildTestApp()
    const val = '{"z":1.0,"a":[12345678901234567890,0.10,1e5,-0.0]}'
    await post('/obj/create', `{"obj":{"project_id":"acme/demo","object_id":"thing","val":${val}}}`)
    for (const url of ['/obj/read', '/traces/obj/read']) {
      expect((await post(url, { ...NAME, digest: 'latest' })).text).toContain(`"val":${val}`)
    }
  })

  it('leaves the content out when only the rest is asked for', async () => {
    const app = await buildTestApp()
    await publish(app, { a: 1 })
    const { body } = await app.post('/obj/read', { ...NAME, digest: 'v0', metadata_only: true })
    expect(body.obj.val).toEqual({})
    expect(Object.keys(body.obj)).not.toContain('tags')
  })

  it('returns aliases when requested', async () => {
    const app = await buildTestApp()
    await publish(app, 1, 2)
    const read = async (digest: string) =>
      (await app.post('/obj/read', { ...NAME, digest, include_tags_and_aliases: true })).body.obj
    expect(await read('v1')).toMatchObject({ tags: [], aliases: ['latest'] })
    expect(await read('v0')).toMatchObject({ tags: [], aliases: [] })
  })

  it.each([
    ['an unknown name', { object_id: 'other', digest: 'latest' }],
    ['an unknown number', { digest: 'v9' }],
    ['a huge number', { digest: 'v99999999999999999999' }],
    ['an unknown digest', { digest: 'abc' }],
    ['another project', { project_id: 'acme/other', digest: 'latest' }],
  ])('responds with object_not_found for %s', async (_what, fields) => {
    const app = await buildTestApp()
    await publish(app, 1)
    const { status, body } = await app.post('/obj/read', { ...NAME, ...fields })
    expect([status, body.error.code, body.error.param]).toEqual([404, 'object_not_found', 'digest'])
  })

  it('says when a deleted version was deleted, and reads the newest that is left', async () => {
    const app = await buildTestApp()
    const [, second] = await publish(app, 1, 2)
    await app.post('/obj/delete', { ...NAME, digests: ['latest'] })
    for (const digest of ['v1', second]) {
      const { status, body } = await app.post('/obj/read', { ...NAME, digest })
      expect([status, body.error.code]).toEqual([404, 'object_not_found'])
      expect(body.error.message).toContain('deleted_at')
    }
    const { body } = await app.post('/obj/read', { ...NAME, digest: 'latest' })
    expect([body.obj.val, body.obj.is_latest]).toEqual([1, 1])
    await app.post('/obj/delete', NAME)
    const { body: gone } = await app.post('/obj/read', { ...NAME, digest: 'latest' })
    expect(gone.error.message).toContain('deleted_at')
  })

  itRefusesBadFields('/obj/read', { ...NAME, digest: 'v0' }, [
    ['project_id', { project_id: undefined }],
    ['object_id', { object_id: 'a b' }],
    ['object_id', { object_id: null }],
    ['digest', { digest: undefined }],
    ['digest', { digest: '' }],
    ['digest', { digest: 'a/b' }],
    ['digest', { digest: 7 }],
    ['metadata_only', { metadata_only: 'yes' }],
    ['include_tags_and_aliases', { include_tags_and_aliases: 1 }],
    ['extra', { extra: 1 }],
  ])

  it('responds with project_forbidden for a key of another project', async () => {
    const app = await buildTestApp()
    await publish(app, 1)
    const key = await app.createKey({ projects: ['other/*'] })
    for (const [url, param, body] of [
      ['/obj/read', 'project_id', { ...NAME, digest: 'v0' }],
      ['/objs/query', 'project_id', { project_id: PROJECT }],
      ['/obj/delete', 'project_id', NAME],
      ['/obj/create', 'obj.project_id', objectOf()],
      ['/table/create', 'table.project_id', { table: { project_id: PROJECT, rows: [] } }],
    ] as const) {
      const { status, body: response } = await app.post(url, body, { key })
      expect([status, response.error]).toMatchObject([403, { code: 'project_forbidden', param }])
    }
  })

  itRefusesBadRequests({ url: '/obj/read', body: { ...NAME, digest: 'v0' }, scope: 'traces:read' })
})

describe('POST /objs/query', () => {
  async function setUp() {
    const app = await buildTestApp()
    const make = (object_id: string, val: unknown) =>
      app.post('/obj/create', objectOf({ object_id, val }))
    await make('b-op', OP_VAL)
    await make('a-model', MODEL_VAL)
    await make('a-model', { ...MODEL_VAL, name: 'n' })
    await make('c-plain', { n: 1 })
    await make('d-other', {
      ...MODEL_VAL,
      _class_name: 'Big',
      _bases: ['Scorer', 'Object', 'BaseModel'],
    })
    await app.post('/obj/create', objectOf({ project_id: 'acme/other', object_id: 'foreign' }))
    const query = async (fields: object) => {
      const { body } = await app.post('/objs/query', { project_id: PROJECT, ...fields })
      return body.objs.map((obj: ObjectSchema) => `${obj.object_id}:${obj.version_index}`)
    }
    return { app, query }
  }

  it.each([
    [{}, ['b-op:0', 'a-model:0', 'a-model:1', 'c-plain:0', 'd-other:0']],
    [{ filter: null }, ['b-op:0', 'a-model:0', 'a-model:1', 'c-plain:0', 'd-other:0']],
    [{ filter: { object_ids: ['a-model', 'none'] } }, ['a-model:0', 'a-model:1']],
    [
      { filter: { object_ids: [] } },
      ['b-op:0', 'a-model:0', 'a-model:1', 'c-plain:0', 'd-other:0'],
    ],
    [{ filter: { is_op: true } }, ['b-op:0']],
    [{ filter: { is_op: false, latest_only: true } }, ['a-model:1', 'c-plain:0', 'd-other:0']],
    [{ filter: { base_object_classes: ['Model'] } }, ['a-model:0', 'a-model:1']],
    [{ filter: { exclude_base_object_classes: ['Model'] } }, ['b-op:0', 'c-plain:0', 'd-other:0']],
    [{ filter: { leaf_object_classes: ['Big', 'x'] } }, ['d-other:0']],
    [{ filter: { aliases: ['latest'], object_ids: ['a-model'] } }, ['a-model:1']],
    [{ filter: { aliases: ['best'] } }, []],
    [{ filter: { tags: ['x'] } }, []],
    [{ limit: 2, offset: 1 }, ['a-model:0', 'a-model:1']],
    [{ limit: 0 }, []],
    [
      { sort_by: [{ field: 'created_at', direction: 'desc' }] },
      ['d-other:0', 'c-plain:0', 'a-model:1', 'a-model:0', 'b-op:0'],
    ],
    [
      {
        sort_by: [
          { field: 'object_id', direction: 'asc' },
          { field: 'created_at', direction: 'desc' },
        ],
      },
      ['a-model:1', 'a-model:0', 'b-op:0', 'c-plain:0', 'd-other:0'],
    ],
  ])('answers %j', async (fields, expected) => {
    const { query } = await setUp()
    expect(await query(fields)).toEqual(expected)
  })

  it('leaves deleted versions out and makes the one before the latest', async () => {
    const { app, query } = await setUp()
    await app.post('/obj/delete', { project_id: PROJECT, object_id: 'a-model', digests: ['v1'] })
    expect(await query({ filter: { latest_only: true, object_ids: ['a-model'] } })).toEqual([
      'a-model:0',
    ])
  })

  it('answers contents, or {} and the bytes when asked', async () => {
    const { app } = await setUp()
    const filter = { object_ids: ['c-plain'] }
    const full = await app.post('/objs/query', { project_id: PROJECT, filter })
    expect(full.body.objs[0].val).toEqual({ n: 1 })
    expect(full.body.objs[0]).not.toHaveProperty('size_bytes')
    const narrow = { filter, metadata_only: true, include_storage_size: true }
    const { body } = await app.post('/objs/query', { project_id: PROJECT, ...narrow })
    expect([body.objs[0].val, body.objs[0].size_bytes]).toEqual([{}, 7])
  })

  itRefusesBadFields('/objs/query', { project_id: PROJECT }, [
    ['project_id', { project_id: 7 }],
    ['filter', { filter: 7 }],
    ['filter.extra', { filter: { extra: 1 } }],
    ['filter.object_ids', { filter: { object_ids: 'a' } }],
    ['filter.object_ids', { filter: { object_ids: Array(1001).fill('a') } }],
    ['filter.is_op', { filter: { is_op: 'true' } }],
    ['filter.latest_only', { filter: { latest_only: 1 } }],
    ['limit', { limit: -1 }],
    ['limit', { limit: 10_001 }],
    ['limit', { limit: 1.5 }],
    ['offset', { offset: -1 }],
    ['sort_by[0].field', { sort_by: [{ field: 'digest', direction: 'asc' }] }],
    ['sort_by[0].direction', { sort_by: [{ field: 'object_id', direction: 'up' }] }],
    ['sort_by', { sort_by: 'object_id' }],
    ['metadata_only', { metadata_only: 'no' }],
    ['include_storage_size', { include_storage_size: 'no' }],
    ['extra', { extra: 1 }],
  ])

  itRefusesBadRequests({
    url: '/objs/query',
    body: { project_id: PROJECT },
    scope: 'traces:read',
  })
})

describe('POST /obj/delete', () => {
  it('deletes named versions, each once, and tells them', async () => {
    const app = await buildTestApp()
    const [first, , third] = await publish(app, 1, 2, MODEL_VAL)
    const { body } = await app.post('/obj/delete', { ...NAME, digests: ['v0', first, 'latest'] })
    expect(body).toEqual({
      num_deleted: 2,
      deleted_versions: [
        { digest: first, base_object_class: null, leaf_object_class: null },
        { digest: third, base_object_class: 'Model', leaf_object_class: 'MyModel' },
      ],
    })
  })

  it.each([{}, { digests: null }])('deletes all versions for %j', async (fields) => {
    const app = await buildTestApp()
    await publish(app, 1, 2)
    expect((await app.post('/obj/delete', { ...NAME, ...fields })).body.num_deleted).toBe(2)
    expect((await app.post('/objs/query', { project_id: PROJECT })).body.objs).toEqual([])
  })

  it('gives the number of a deleted version to no other', async () => {
    const app = await buildTestApp()
    await publish(app, 1, 2)
    await app.post('/obj/delete', NAME)
    await publish(app, 3)
    const { body } = await app.post('/obj/read', { ...NAME, digest: 'latest' })
    expect(body.obj.version_index).toBe(2)
  })

  it.each([
    ['digests[1]', { digests: ['v0', 'v7'] }],
    ['digests[0]', { digests: ['unknown'] }],
    ['object_id', { object_id: 'other' }],
    ['object_id', { project_id: 'acme/other' }],
  ])('responds with object_not_found at %s for %j and deletes nothing', async (param, fields) => {
    const app = await buildTestApp()
    await publish(app, 1)
    const { status, body } = await app.post('/obj/delete', { ...NAME, ...fields })
    expect([status, body.error.code, body.error.param]).toEqual([404, 'object_not_found', param])
    expect((await app.post('/objs/query', { project_id: PROJECT })).body.objs).toHaveLength(1)
  })

  it('responds with object_not_found the second time', async () => {
    const app = await buildTestApp()
    await publish(app, 1)
    await app.post('/obj/delete', NAME)
    expect((await app.post('/obj/delete', NAME)).status).toBe(404)
    expect((await app.post('/obj/delete', { ...NAME, digests: ['v0'] })).status).toBe(404)
  })

  itRefusesBadFields('/obj/delete', NAME, [
    ['digests', { digests: [] }],
    ['digests', { digests: 'v0' }],
    ['digests[0]', { digests: [7] }],
    ['object_id', { object_id: undefined }],
    ['extra', { extra: 1 }],
  ])

  itRefusesBadRequests({ url: '/obj/delete', body: NAME, scope: 'traces:write' })
})
