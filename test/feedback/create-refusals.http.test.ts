import { describe, expect, it } from 'vitest'
import { buildTestApp } from '../support/build-test-app.ts'
import { FEEDBACK, FULL_FEEDBACK, storedPaths } from './feedback-fixtures.ts'

const URL = '/feedback/create'

describe('POST /feedback/create', () => {
  describe('422', () => {
    const REF_PREFIX = 'weave:///acme/demo'
    const OBJECT = `${REF_PREFIX}/object/a:v1`
    const OP = `${REF_PREFIX}/op/a:v1`
    const CALL = `${REF_PREFIX}/call/c1`
    const badRef = [
      1,
      true,
      {},
      [],
      '',
      'x',
      `${OBJECT}\n`,
      `${REF_PREFIX}/object/a`,
      `weave:///acme/object/a:v1`,
    ]
    const BAD: Record<string, readonly unknown[]> = {
      project_id: [
        undefined,
        null,
        1,
        {},
        [],
        '',
        'acme',
        'acme/',
        '/demo',
        'a/b/c',
        'a b/\n',
        'x'.repeat(300),
      ],
      weave_ref: [undefined, null, ...badRef, OP, CALL, `${OBJECT}${'x'.repeat(2048)}`],
      feedback_type: [undefined, null, 1, {}, [], '', 'a\u0000b', '\ud800', 'x'.repeat(257)],
      payload: [undefined, null, 1, 'x', [], true],
      id: [1, {}, [], '', ' ', 'a\nb', ' a', 'x'.repeat(129)],
      creator: [1, {}, [], '', 'a\u0000', '\udfff', 'x'.repeat(257)],
      annotation_ref: [...badRef, OP, CALL],
      runnable_ref: [...badRef, OBJECT, CALL],
      call_ref: [1, {}, [], '', 'x', OBJECT, OP, `${REF_PREFIX}/call/`],
      trigger_ref: [...badRef, OP, CALL],
      queue_id: [1, {}, [], '', '\u0007', 'x'.repeat(129)],
      svc_user_id: ['u-1', '', 1, {}, [], false],
    }
    it.each(Object.entries(BAD))(
      'refuses a bad §2.2 %s and stores nothing',
      async (field, values) => {
        const app = await buildTestApp()
        for (const value of values) {
          const { status, body } = await app.post(URL, { ...FULL_FEEDBACK, [field]: value })
          const answer = [status, body.error?.code, body.error?.param]
          expect(answer, JSON.stringify(value)).toEqual([422, 'validation_failed', field])
        }
        expect(await storedPaths(app)).toEqual([])
      },
    )

    // As the service behind weave 0.54 does, which names the queue as not found.
    it.each(['unknown', 'deleted', 'foreign'])(
      'refuses a §2.2 queue_id that is %s, alone, in a batch and as a replacement',
      async (kind) => {
        const { post, delete: remove } = await buildTestApp()
        const project_id = kind === 'foreign' ? 'acme/other' : FEEDBACK.project_id
        const made = await post('/annotation_queues', { project_id, name: 'q', scorer_refs: [] })
        const queue_id = kind === 'unknown' ? 'unknown' : made.body.id
        const good = { ...FEEDBACK, id: 'good', queue_id: kind === 'deleted' ? queue_id : null }
        expect((await post(URL, good)).status).toBe(200)
        if (kind === 'deleted') {
          await remove(`/annotation_queues/${queue_id}?project_id=${project_id}`)
        }
        const refusal = { code: 'annotation_queue_not_found', param: 'queue_id' }
        const bad = { ...FEEDBACK, queue_id }
        for (const [url, body] of [
          [URL, bad],
          [`/traces${URL}`, bad],
          ['/feedback/replace', { ...bad, feedback_id: 'good' }],
        ] as const) {
          const { status, body: answer } = await post(url, body)
          expect([status, answer.error]).toEqual([404, expect.objectContaining(refusal)])
        }
        const other = { ...FEEDBACK, id: 'other' }
        const { body } = await post('/feedback/batch/create', { batch: [bad, other, bad] })
        expect(body.errors).toEqual([0, 2].map((index) => ({ index, ...body.res[index].error })))
        expect(body.errors[0]).toMatchObject({ ...refusal, param: 'batch[0].queue_id' })
        const { body: found } = await post('/feedback/query', {
          project_id: FEEDBACK.project_id,
          fields: ['id'],
        })
        expect(found.result).toEqual([{ id: 'good' }, { id: 'other' }])
      },
    )

    it('says where feedback about a call goes', async () => {
      const { post } = await buildTestApp()
      const { body } = await post(URL, { ...FEEDBACK, weave_ref: 'weave:///acme/demo/call/c1' })
      expect(body.error).toMatchObject({ code: 'validation_failed', param: 'weave_ref' })
      expect(body.error.message).toContain('/traces/feedback/create')
    })

    it('refuses unknown fields by their names', async () => {
      const app = await buildTestApp()
      for (const field of ['wb_user_id', 'created_at', 'Payload', 'constructor', 'x-y']) {
        const { status, body } = await app.post(URL, { ...FEEDBACK, [field]: 1 })
        const answer = [status, body.error?.code, body.error?.param]
        expect(answer).toEqual([422, 'validation_failed', field])
      }
      expect(await storedPaths(app)).toEqual([])
    })

    it('refuses the field __proto__ by its name', async () => {
      const { post } = await buildTestApp()
      const text = JSON.stringify(FEEDBACK).replace('{', '{"__proto__":{"id":"x"},')
      const { status, body } = await post(URL, text)
      expect([status, body.error.param]).toEqual([422, '__proto__'])
    })

    it.each(['[]', '1', 'null', '""', ''])('refuses the body %j', async (text) => {
      const { post } = await buildTestApp()
      const { status, body } = await post(URL, text)
      expect([status, body.error.code]).toEqual([422, 'validation_failed'])
    })

    it('names the field that breaks the rule of its type and stores nothing', async () => {
      const app = await buildTestApp()
      const reaction = { ...FEEDBACK, feedback_type: 'wandb.reaction.1', payload: { emoji: 'no' } }
      const { status, body } = await app.post(URL, reaction)
      expect([status, body.error.code, body.error.param]).toEqual([
        422,
        'validation_failed',
        'payload.emoji',
      ])
      expect(await storedPaths(app)).toEqual([])
    })
  })
})
