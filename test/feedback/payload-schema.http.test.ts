import { describe, expect, it } from 'vitest'
import { itRefusesBadRequests } from '../support/bad-requests.ts'
import { buildTestApp } from '../support/build-test-app.ts'
import { FEEDBACK, feedbackAt, storedPaths, trigger } from './feedback-fixtures.ts'

const URL = '/feedback/payload_schema'
const REQUEST = { project_id: 'acme/demo', start: '2026-01-01T00:00:00Z' }

/** An app over records of five minutes, each of a trigger of its own, from t0 to t4. */
async function buildFilledApp() {
  const app = await buildTestApp()
  for (let minute = 0; minute < 5; minute++) {
    const at = `2026-01-01T00:0${minute}:00Z`
    const fields = { trigger_ref: trigger(`t${minute}`), feedback_type: `type-${minute % 2}` }
    await app.deps.feedback.createFeedback(feedbackAt(at, `t${minute}`, fields))
  }
  return app
}

describe('POST /feedback/payload_schema', () => {
  itRefusesBadRequests({ url: URL, body: REQUEST, scope: 'traces:read' })

  describe('200', () => {
    it('answers §2.4 json_path and §2.4 value_type of each leaf, sorted', async () => {
      const { post } = await buildTestApp()
      const payload = {
        score: 1,
        ok: true,
        tags: ['a'],
        'f-1': { x: 'y' },
        none: {},
        nothing: null,
      }
      await post('/feedback/create', { ...FEEDBACK, payload })
      const { status, body, headers } = await post(URL, REQUEST)
      expect(status).toBe(200)
      expect(body).toEqual({
        paths: [
          { json_path: '["f-1"].x', value_type: 'categorical' },
          { json_path: 'nothing', value_type: 'categorical' },
          { json_path: 'ok', value_type: 'boolean' },
          { json_path: 'score', value_type: 'numeric' },
          { json_path: 'tags[*]', value_type: 'categorical' },
        ],
      })
      expect(headers).not.toHaveProperty('x-weft-paths-incomplete')
    })

    it('answers no paths when there is no feedback', async () => {
      const { post } = await buildTestApp()
      const { status, body } = await post(URL, REQUEST)
      expect([status, body]).toEqual([200, { paths: [] }])
    })

    it('counts long numbers as numeric in §2.4 value_type', async () => {
      const { post } = await buildTestApp()
      const text = JSON.stringify(FEEDBACK).replace('0.9', '12345678901234567890')
      await post('/feedback/create', text)
      const { body } = await post(URL, REQUEST)
      expect(body.paths).toEqual([{ json_path: 'score', value_type: 'numeric' }])
    })

    it('merges the types of several triggers', async () => {
      const app = await buildTestApp()
      const payloads = [{ a: 1, b: 1 }, { a: true }, { b: null }]
      for (const [at, payload] of payloads.entries()) {
        const trigger_ref = trigger(`t${at}`)
        await app.post('/feedback/create', { ...FEEDBACK, payload, trigger_ref })
      }
      const { body } = await app.post(URL, REQUEST)
      expect(body.paths).toEqual([
        { json_path: 'a', value_type: 'categorical' },
        { json_path: 'b', value_type: 'numeric' },
      ])
    })

    it('looks only into §4.2 project_id', async () => {
      const app = await buildFilledApp()
      expect(await storedPaths(app, { project_id: 'acme/dem' })).toEqual([])
      expect(await storedPaths(app, { project_id: 'acme/demo' })).toHaveLength(5)
    })

    it.each([
      ['2026-01-01T00:03:00Z', ['t3', 't4']],
      ['2026-01-01T00:03:00.000001Z', ['t4']],
      ['2026-01-01T00:03:00', ['t3', 't4']],
      ['2026-01-01T01:33:00+01:30', ['t3', 't4']],
      ['2025-01-01T00:00:00Z', ['t0', 't1', 't2', 't3', 't4']],
    ])('takes §4.2 start %s as inclusive', async (start, expected) => {
      const app = await buildFilledApp()
      expect(await storedPaths(app, { start })).toEqual(expected)
    })

    it.each([
      ['2026-01-01T00:02:00Z', ['t0', 't1']],
      ['2026-01-01T00:02:00.000001Z', ['t0', 't1', 't2']],
      ['2026-01-01T00:00:00Z', []],
      [null, ['t0', 't1', 't2', 't3', 't4']],
      [undefined, ['t0', 't1', 't2', 't3', 't4']],
    ])('takes §4.2 end %s as exclusive', async (end, expected) => {
      const app = await buildFilledApp()
      expect(await storedPaths(app, { ...REQUEST, end })).toEqual(expected)
    })

    it('ends now when §4.2 end is absent: sees what was just stored, not the future', async () => {
      const app = await buildTestApp()
      await app.deps.feedback.createFeedback(
        feedbackAt('2200-01-01T00:00:00Z', 'future', { trigger_ref: trigger('future') }),
      )
      for (let at = 0; at < 20; at++) {
        const payload = { [`now_${at}`]: 1 }
        await app.post('/feedback/create', { ...FEEDBACK, payload })
        expect(await storedPaths(app)).toEqual([`now_${at}`])
      }
      expect(await storedPaths(app, { end: '2201-01-01T00:00:00Z' })).toContain('future')
    })

    it.each([
      ['type-0', ['t0', 't2', 't4']],
      ['type-1', ['t1', 't3']],
      ['type-', []],
      ['type-0 ', []],
      [null, ['t0', 't1', 't2', 't3', 't4']],
    ])('matches §4.2 feedback_type %j exactly', async (feedback_type, expected) => {
      const app = await buildFilledApp()
      expect(await storedPaths(app, { feedback_type })).toEqual(expected)
    })

    it.each([
      [trigger('foo', 'v1'), ['foo1']],
      [trigger('foo', '*'), ['foo1', 'foo2']],
      ['weave:///acme/demo/object/foo', ['foo1', 'foo2']],
      [trigger('foob', '*'), []],
      [trigger('f%', '*'), []],
      [trigger('none', 'v1'), []],
      [null, ['bar1', 'foo1', 'foo2', 'foobar1', 'none']],
    ])('matches §4.2 trigger_ref %s', async (trigger_ref, expected) => {
      const app = await buildTestApp()
      const names = { foo1: ['foo'], foo2: ['foo', 'v2'], foobar1: ['foobar'], bar1: ['bar'] }
      for (const [id, [name = '', digest]] of Object.entries(names)) {
        const fields = { trigger_ref: trigger(name, digest) }
        await app.deps.feedback.createFeedback(feedbackAt('2026-01-01T00:00:00Z', id, fields))
      }
      await app.deps.feedback.createFeedback(feedbackAt('2026-01-01T00:00:00Z', 'none'))
      expect(await storedPaths(app, { trigger_ref })).toEqual(expected.toSorted())
    })

    it.each([
      [1, ['t4']],
      [2, ['t3', 't4']],
      [5000, ['t0', 't1', 't2', 't3', 't4']],
      [undefined, ['t0', 't1', 't2', 't3', 't4']],
    ])('looks into the newest §4.2 sample_limit %s of triggers', async (sample_limit, expected) => {
      const app = await buildFilledApp()
      expect(await storedPaths(app, { sample_limit })).toEqual(expected)
    })

    it('says in a header when there are more paths than an answer holds', async () => {
      const { post } = await buildTestApp()
      const payload = Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [`k${at}`, at]))
      await post('/feedback/create', { ...FEEDBACK, payload })
      const { body, headers } = await post(URL, REQUEST)
      expect(body.paths).toHaveLength(10_000)
      expect(headers['x-weft-paths-incomplete']).toBe('true')
    })

    it('applies the default and the ends of §8 feedback payload schema sample_limit', async () => {
      const app = await buildTestApp()
      const writes = Array.from({ length: 5001 }, (_, at) =>
        app.deps.feedback.createFeedback(
          feedbackAt('2026-01-01T00:00:00Z', `p${at}`, { trigger_ref: trigger(`t${at}`) }),
        ),
      )
      await Promise.all(writes)
      expect(await storedPaths(app)).toHaveLength(2000)
      expect(await storedPaths(app, { sample_limit: 5000 })).toHaveLength(5000)
      expect(await storedPaths(app, { sample_limit: 1 })).toHaveLength(1)
    })
  })

  describe('403', () => {
    it('answers project_forbidden for a foreign §4.2 project_id', async () => {
      const app = await buildFilledApp()
      const key = await app.createKey({ projects: ['acme/other'] })
      const { status, body } = await app.post(URL, REQUEST, { key })
      expect([status, body.error.code]).toEqual([403, 'project_forbidden'])
    })
  })

  describe('422', () => {
    const badDates = [
      1,
      {},
      [],
      '',
      'now',
      '2026-01-01',
      '2026-02-30T00:00:00Z',
      '2026-01-01T25:00:00Z',
    ]
    const BAD: Record<string, readonly unknown[]> = {
      project_id: [undefined, null, 1, '', 'acme', 'a/b/c'],
      start: [undefined, null, ...badDates],
      end: [...badDates, '2025-12-31T23:59:59.999999Z'],
      feedback_type: [1, {}, [], '', 'x'.repeat(257)],
      trigger_ref: [
        1,
        [],
        '',
        '*',
        'x:*',
        'weave:///acme/demo/object/',
        'weave:///acme/demo/op/a:v1',
        'weave:///acme/demo/call/a',
        `weave:///acme/demo/object/${'x'.repeat(2048)}:*`,
      ],
      sample_limit: [0, -1, 5001, 1.5, null, '5', true, 1e21],
      unknown: [1],
      limit: [1],
    }
    it.each(Object.entries(BAD))('refuses a bad §4.2 %s', async (field, values) => {
      const { post } = await buildTestApp()
      for (const value of values) {
        const { status, body } = await post(URL, { ...REQUEST, [field]: value })
        const answer = [status, body.error?.code, body.error?.param]
        expect(answer, JSON.stringify(value)).toEqual([422, 'validation_failed', field])
      }
    })

    it('names §4.2 start when it lies in the future and there is no end', async () => {
      const { post } = await buildTestApp()
      const { status, body } = await post(URL, { ...REQUEST, start: '2200-01-01T00:00:00Z' })
      expect([status, body.error.code, body.error.param]).toEqual([
        422,
        'validation_failed',
        'start',
      ])
    })
  })
})
