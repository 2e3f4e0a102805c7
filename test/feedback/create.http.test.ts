import { describe, expect, it } from 'vitest'
import { itRefusesBadRequests } from '../support/bad-requests.ts'
import { buildTestApp } from '../support/build-test-app.ts'
import { buildQueueApp, FEEDBACK, FULL_FEEDBACK, storedPaths } from './feedback-fixtures.ts'

const URL = '/feedback/create'
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

describe('POST /feedback/create', () => {
  itRefusesBadRequests({ url: URL, body: FEEDBACK, scope: 'traces:write' })

  describe('200', () => {
    it('answers §2.3 id, §2.3 created_at, §2.3 svc_user_id, §2.3 payload and nothing else', async () => {
      const { post } = await buildTestApp()
      const { status, body } = await post(URL, FEEDBACK)
      expect(status).toBe(200)
      expect(body).toEqual({
        id: expect.stringMatching(UUID_V7),
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
        svc_user_id: 'u-1',
        payload: FEEDBACK.payload,
      })
    })

    it('takes §2.3 created_at from the server clock', async () => {
      const { post } = await buildTestApp()
      const before = Date.now()
      const { body } = await post(URL, FEEDBACK)
      const created = Date.parse(body.created_at)
      expect(created).toBeGreaterThanOrEqual(before)
      expect(created).toBeLessThanOrEqual(Date.now() + 1)
    })

    it('makes another id and a later time for every record', async () => {
      const { post } = await buildTestApp()
      const first = await post(URL, FEEDBACK)
      const second = await post(URL, FEEDBACK)
      expect(second.body.id).not.toBe(first.body.id)
      expect(second.body.created_at > first.body.created_at).toBe(true)
    })

    it('stores §2.2 id as the client gave it', async () => {
      const { post } = await buildTestApp()
      const { body } = await post(URL, { ...FEEDBACK, id: 'Ünïque id/1:x' })
      expect(body.id).toBe('Ünïque id/1:x')
    })

    it.each(Object.entries(FULL_FEEDBACK))(
      'stores §2.2 %s: a repeat with another one is feedback_conflict',
      async (field) => {
        const { post } = await buildQueueApp()
        const first = await post(URL, FULL_FEEDBACK)
        expect(first.status).toBe(200)
        const other: Record<string, unknown> = {
          project_id: 'acme/other',
          id: 'feedback-2',
          weave_ref: 'weave:///acme/demo/object/answer:v2',
          feedback_type: 'custom-2',
          payload: { score: 1 },
          creator: 'Bob',
          annotation_ref: null,
          runnable_ref: 'weave:///acme/demo/op/judge:v4',
          call_ref: 'weave:///acme/demo/call/call-2',
          trigger_ref: 'weave:///acme/demo/object/monitor:v5',
          queue_id: null,
        }
        const moved = field === 'project_id' ? { queue_id: null } : {}
        const again = await post(URL, { ...FULL_FEEDBACK, ...moved, [field]: other[field] })
        if (field === 'id' || field === 'project_id') {
          expect(again.status).toBe(200)
          expect(again.body.created_at > first.body.created_at).toBe(true)
        } else {
          expect(again.status).toBe(409)
          expect(again.body.error).toMatchObject({ code: 'feedback_conflict', param: 'id' })
        }
      },
    )

    it.each([
      'id',
      'creator',
      'annotation_ref',
      'runnable_ref',
      'call_ref',
      'trigger_ref',
      'queue_id',
      'svc_user_id',
    ])('takes a null §2.2 %s as absent', async (field) => {
      const { post } = await buildQueueApp()
      const { svc_user_id: _, ...full } = { svc_user_id: null, ...FULL_FEEDBACK }
      const withNull = { ...full, [field]: null }
      const first = await post(URL, withNull)
      expect(first.status).toBe(200)
      if (field === 'id') return expect(first.body.id).toMatch(UUID_V7)
      const { [field]: _null, ...without } = withNull as Record<string, unknown>
      expect((await post(URL, without)).body).toEqual(first.body)
    })

    it('answers a repeat exactly as the first time, also to another key', async () => {
      const { post, createKey } = await buildQueueApp()
      const first = await post(URL, FULL_FEEDBACK)
      const second = await post(URL, FULL_FEEDBACK)
      const third = await post(URL, FULL_FEEDBACK, {
        key: await createKey({ projects: ['acme/*'] }),
      })
      expect(second.text).toBe(first.text)
      expect(third.text).toBe(first.text)
    })

    it("leaves the id of another project's feedback free", async () => {
      const { post } = await buildQueueApp()
      await post(URL, FULL_FEEDBACK)
      const { status, body } = await post(URL, {
        ...FULL_FEEDBACK,
        project_id: 'acme/other',
        queue_id: null,
        payload: { other: true },
      })
      expect(status).toBe(200)
      expect(body).toMatchObject({ id: 'feedback-1', payload: { other: true } })
    })

    it('keeps every digit and every key of §2.2 payload', async () => {
      const { post } = await buildTestApp()
      const payload =
        '{"big":12345678901234567890,"small":0.12345678901234567890,"e":1e400,"__proto__":{"a":1},"constructor":[],"é":"\\u0000","":null}'
      const text = JSON.stringify({ ...FEEDBACK, id: 'f' }).replace('{"score":0.9}', payload)
      const first = await post(URL, text)
      expect(first.status).toBe(200)
      expect(first.text).toContain(`"payload":${payload}`)
      expect((await post(URL, text)).text).toBe(first.text)
    })

    it.each(['weave', 'weft', 'x-trace+1.0'])('reads refs of the scheme %s', async (scheme) => {
      const { post } = await buildQueueApp()
      const refs = Object.fromEntries(
        Object.entries(FULL_FEEDBACK).map(([field, value]) => [
          field,
          typeof value === 'string' ? value.replace('weave:', `${scheme}:`) : value,
        ]),
      )
      expect((await post(URL, refs)).status).toBe(200)
    })

    it('takes refs into other projects, except those of annotations', async () => {
      const { post } = await buildQueueApp()
      const moved = JSON.parse(JSON.stringify(FULL_FEEDBACK).replaceAll('///acme/demo', '///x/y'))
      expect((await post(URL, moved)).status).toBe(200)
    })

    it('stores one record for 100 simultaneous creates with the same id', async () => {
      const app = await buildQueueApp()
      const answers = await Promise.all(
        Array.from({ length: 100 }, () => app.post(URL, FULL_FEEDBACK)),
      )
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    })

    it('accepts one of many contents sent at once for an id and refuses the others', async () => {
      const app = await buildQueueApp()
      const answers = await Promise.all(
        Array.from({ length: 30 }, (_, at) =>
          app.post(URL, { ...FULL_FEEDBACK, payload: { [`path_${at}`]: 1 } }),
        ),
      )
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
      expect(answers.filter(({ status }) => status === 409)).toHaveLength(29)
      expect(await storedPaths(app)).toHaveLength(1)
    })
  })

  describe('403', () => {
    it('answers project_forbidden for a foreign §2.2 project_id and stores nothing', async () => {
      const app = await buildTestApp()
      const key = await app.createKey({ projects: ['other/*'] })
      const { status, body } = await app.post(URL, FEEDBACK, { key })
      expect([status, body.error.code, body.error.param]).toEqual([
        403,
        'project_forbidden',
        'project_id',
      ])
      expect(await storedPaths(app)).toEqual([])
    })
  })

  describe('413', () => {
    const WRAPPING = '{"text":""}'.length

    it('takes §2.2 payload of exactly the limit and refuses one byte more', async () => {
      const app = await buildTestApp({ feedbackPayloadBytesMax: 2000 })
      const text = 'é'.repeat((2000 - WRAPPING - 1) / 2)
      const fits = await app.post(URL, { ...FEEDBACK, payload: { text: `${text}a` } })
      expect(fits.status).toBe(200)
      const { status, body } = await app.post(URL, { ...FEEDBACK, payload: { text: `${text}é` } })
      expect([status, body.error.code, body.error.param]).toEqual([
        413,
        'request_too_large',
        'payload',
      ])
    })

    it('takes 1 MiB of §2.2 payload by default and no more', async () => {
      const app = await buildTestApp()
      const fits = { text: 'a'.repeat(1024 * 1024 - WRAPPING) }
      expect((await app.post(URL, { ...FEEDBACK, payload: fits })).status).toBe(200)
      const large = { extra: 'a'.repeat(1024 * 1024) }
      expect((await app.post(URL, { ...FEEDBACK, payload: large })).status).toBe(413)
      expect(await storedPaths(app)).toEqual(['text'])
    })

    it('refuses a body over the limit of all bodies', async () => {
      const app = await buildTestApp({ bodyBytesMax: 2000 })
      const { status, body } = await app.post(URL, {
        ...FEEDBACK,
        payload: { a: 'a'.repeat(2000) },
      })
      expect([status, body.error.code]).toEqual([413, 'request_too_large'])
    })
  })
})
