/** Objects that are published. */
import { describe, expect, it } from 'vitest'
import type { ObjectSchema } from '../../src/schemas/objects/object.ts'
import vectors from '../json/python-digests.json' with { type: 'json' }
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

describe('POST /obj/create', () => {
  describe('200', () => {
    it('answers the digest that Python clients compute, whatever the JSON looks like', async () => {
      const { post } = await buildTestApp()
      for (const { text, digest } of vectors.values.slice(0, 80)) {
        const body = `{"obj": {"project_id":"acme/demo","object_id":"o" , "val": ${text} }}`
        const { body: response } = await post('/obj/create', body)
        expect(response).toEqual({ digest, object_id: 'o' })
      }
    })

    it('counts versions from 0 and takes the same content for the same version', async () => {
      const app = await buildTestApp()
      const [first, second, again] = await publish(app, { a: 1, b: 2 }, { a: 2 }, { b: 2, a: 1 })
      expect(again).toBe(first)
      const { body } = await app.post('/objs/query', { project_id: PROJECT })
      expect(body.objs.map((obj: ObjectSchema) => [obj.digest, obj.version_index])).toEqual([
        [first, 0],
        [second, 1],
      ])
      expect(body.objs.map((obj: ObjectSchema) => obj.is_latest)).toEqual([0, 1])
    })

    it('brings a deleted version back when its content comes again', async () => {
      const app = await buildTestApp()
      const [digest] = await publish(app, { a: 1 }, { a: 2 })
      await app.post('/obj/delete', { ...NAME, digests: [digest] })
      await publish(app, { a: 1 })
      const { body } = await app.post('/obj/read', { ...NAME, digest })
      expect([body.obj.version_index, body.obj.deleted_at]).toEqual([0, null])
    })

    it.each([
      [OP_VAL, 'op', null, null],
      [MODEL_VAL, 'object', 'Model', 'MyModel'],
      [{ ...MODEL_VAL, _bases: ['Object', 'BaseModel'] }, 'object', 'MyModel', 'MyModel'],
      [{ ...MODEL_VAL, _bases: ['BaseObject', 'BaseModel'] }, 'object', 'MyModel', 'MyModel'],
      [{ ...MODEL_VAL, _bases: ['BaseModel'] }, 'object', null, null],
      [{ ...MODEL_VAL, _bases: 'Object' }, 'object', null, null],
      [{ ...MODEL_VAL, _class_name: 1 }, 'object', null, null],
      ['text', 'object', null, null],
      [null, 'object', null, null],
      [[OP_VAL], 'object', null, null],
    ])('sees kind and classes of %j', async (val, kind, base, leaf) => {
      const app = await buildTestApp()
      await publish(app, val)
      const { body } = await app.post('/obj/read', { ...NAME, digest: 'latest' })
      expect(body.obj).toMatchObject({
        kind,
        base_object_class: base,
        leaf_object_class: leaf,
        val,
      })
    })

    it('writes a class that is given beside the content into it', async () => {
      const { post } = await buildTestApp()
      const request = objectOf({ val: { provider: 'x' }, builtin_object_class: 'Provider' })
      const { body: made } = await post('/obj/create', request)
      const { body } = await post('/obj/read', { ...NAME, digest: made.digest })
      expect(body.obj.val).toEqual({
        provider: 'x',
        _type: 'Provider',
        _class_name: 'Provider',
        _bases: ['BaseObject', 'BaseModel'],
      })
      expect(body.obj.base_object_class).toBe('Provider')
    })

    it('stores the user of the key and not the sent one', async () => {
      const { post } = await buildTestApp()
      await post('/obj/create', objectOf({ svc_user_id: 'someone' }))
      const { body } = await post('/obj/read', { ...NAME, digest: 'v0' })
      expect(body.obj.svc_user_id).toBe('u-1')
    })

    it('takes the digest that the client expects', async () => {
      const app = await buildTestApp()
      const [digest] = await publish(app, { a: 1 })
      const { status } = await app.post('/obj/create', objectOf({ expected_digest: digest }))
      expect(status).toBe(200)
    })

    it('takes and answers vendor names below /traces', async () => {
      const { post } = await buildTestApp()
      const sent = {
        ...objectOf({ wb_user_id: null, val: { svc_user_id: 1, wb_user_id: 2 } }),
        x: 1,
      }
      const { status } = await post('/traces/obj/create', sent)
      expect(status).toBe(200)
      const { body } = await post('/traces/obj/read', { ...NAME, digest: 'latest' })
      expect(body.obj.wb_user_id).toBe('u-1')
      expect(body.obj.val).toEqual({ svc_user_id: 1, wb_user_id: 2 })
    })
  })

  describe('409', () => {
    it('responds with digest_mismatch for another expected digest and stores nothing', async () => {
      const { post } = await buildTestApp()
      const { status, body } = await post('/obj/create', objectOf({ expected_digest: 'other' }))
      expect([status, body.error.code, body.error.param]).toEqual([
        409,
        'digest_mismatch',
        'obj.expected_digest',
      ])
      expect((await post('/objs/query', { project_id: PROJECT })).body.objs).toEqual([])
    })

    it('responds with object_conflict when another version than expected is the latest', async () => {
      const { post } = await buildTestApp()
      const publish = (fields: object) => post('/obj/create', objectOf(fields))
      expect((await publish({ expected_latest: -1 })).status).toBe(200)
      const { status, body } = await publish({ val: 2, expected_latest: -1 })
      expect([status, body.error.code, body.error.param]).toEqual([
        409,
        'object_conflict',
        'obj.expected_latest',
      ])
      expect((await publish({ val: 2, expected_latest: 0 })).status).toBe(200)
      expect((await publish({ val: 3, expected_latest: null })).status).toBe(200)
    })
  })

  describe('422', () => {
    itRefusesBadFields(
      '/obj/create',
      {},
      [
        ['obj', { obj: null }],
        ['obj', {}],
        ['extra', { ...objectOf(), extra: 1 }],
        ['obj.extra', objectOf({ extra: 1 })],
        ['obj.expected_latest', objectOf({ expected_latest: -2 })],
        ['obj.project_id', objectOf({ project_id: undefined })],
        ['obj.project_id', objectOf({ project_id: 'acme' })],
        ['obj.project_id', objectOf({ project_id: null })],
        ['obj.object_id', objectOf({ object_id: undefined })],
        ['obj.object_id', objectOf({ object_id: null })],
        ['obj.object_id', objectOf({ object_id: 7 })],
        ['obj.object_id', objectOf({ object_id: '' })],
        ['obj.object_id', objectOf({ object_id: 'a b' })],
        ['obj.object_id', objectOf({ object_id: 'a/b' })],
        ['obj.object_id', objectOf({ object_id: 'a:b' })],
        ['obj.object_id', objectOf({ object_id: 'x'.repeat(129) })],
        ['obj.val', objectOf({ val: undefined })],
        ['obj.builtin_object_class', objectOf({ builtin_object_class: 7 })],
        ['obj.builtin_object_class', objectOf({ val: 'text', builtin_object_class: 'C' })],
        ['obj.builtin_object_class', objectOf({ val: MODEL_VAL, builtin_object_class: 'C' })],
        ['obj.set_base_object_class', objectOf({ set_base_object_class: '' })],
        ['obj.expected_digest', objectOf({ expected_digest: 7 })],
        ['obj.svc_user_id', objectOf({ svc_user_id: 7 })],
      ],
      async ({ post }) => {
        expect((await post('/objs/query', { project_id: PROJECT })).body.objs).toEqual([])
      },
    )
  })

  it.each(['a', 'x'.repeat(128), 'A.b-c_9', 'été'])('takes the name %s', async (object_id) => {
    const { post } = await buildTestApp()
    expect((await post('/obj/create', objectOf({ object_id }))).status).toBe(200)
  })

  itRefusesBadRequests({ url: '/obj/create', body: objectOf(), scope: 'traces:write' })
})
