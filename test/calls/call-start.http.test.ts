import { describe, expect, it } from 'vitest'
import { itRefusesBadRequests } from '../support/bad-requests.ts'
import { buildTestApp } from '../support/build-test-app.ts'
import { STARTED } from './call-fixtures.ts'

const FULL = {
  ...STARTED,
  id: 'call-1',
  display_name: 'Shown',
  trace_id: 'trace-1',
  parent_id: 'parent-1',
  thread_id: 'thread-1',
  turn_id: 'turn-1',
  svc_run_id: 'run-1',
  svc_run_step: 7,
}

describe('POST /call/start', () => {
  describe('200', () => {
    it('returns §4.6 id and §4.6 trace_id that it made', async () => {
      const { post } = await buildTestApp()
      const first = await post('/call/start', { start: STARTED })
      const second = await post('/call/start', { start: STARTED })
      expect(first.status).toBe(200)
      expect(Object.keys(first.body)).toEqual(['id', 'trace_id'])
      expect(new Set([...Object.values(first.body), ...Object.values(second.body)]).size).toBe(4)
    })

    it.each(Object.entries(FULL).filter(([field]) => field !== 'started_at'))(
      'stores §2.6 %s as it was sent',
      async (field, value) => {
        const { post } = await buildTestApp()
        await post('/call/start', { start: FULL })
        const { body } = await post('/call/read', { project_id: 'acme/demo', id: 'call-1' })
        expect(body.call[field]).toEqual(value)
      },
    )

    it.each([
      ['2026-01-02T03:04:05.123456Z', '2026-01-02T03:04:05.123456Z'],
      ['2026-01-02T03:04:05.123456+05:30', '2026-01-01T21:34:05.123456Z'],
      ['2026-01-02T03:04:05', '2026-01-02T03:04:05.000000Z'],
      ['2026-01-02T03:04:05.1234567891Z', '2026-01-02T03:04:05.123456Z'],
    ])('keeps the microseconds of §2.6 started_at %s', async (started_at, expected) => {
      const { post } = await buildTestApp()
      const { body: made } = await post('/call/start', { start: { ...STARTED, started_at } })
      const { body } = await post('/call/read', { project_id: 'acme/demo', id: made.id })
      expect(body.call.started_at).toBe(expected)
    })

    it('shows §2.6 otel_dump as attributes.otel_span', async () => {
      const { post } = await buildTestApp()
      const start = { ...FULL, attributes: { a: 1 }, otel_dump: { name: 'span' } }
      await post('/call/start', { start })
      const { body } = await post('/call/read', { project_id: 'acme/demo', id: 'call-1' })
      expect(body.call.attributes).toEqual({ a: 1, otel_span: { name: 'span' } })
    })

    it("stores the key's user and not the sent §2.6 svc_user_id", async () => {
      const { post } = await buildTestApp()
      await post('/call/start', { start: { ...FULL, svc_user_id: 'somebody' } })
      const { body } = await post('/call/read', { project_id: 'acme/demo', id: 'call-1' })
      expect(body.call).toMatchObject({ svc_user_id: 'u-1', svc_username: 'User One' })
    })

    it('keeps every digit of long numbers and odd keys in inputs', async () => {
      const { post } = await buildTestApp()
      const inputs =
        '{"big":12345678901234567890,"__proto__":{"a":0.12345678901234567890},"é":"\\u0000"}'
      const text = JSON.stringify({ start: FULL }).replace('{"question":"why"}', inputs)
      await post('/call/start', text)
      const { text: read } = await post('/call/read', { project_id: 'acme/demo', id: 'call-1' })
      expect(read).toContain(`"inputs":${inputs}`)
    })

    it('responds to a repeated start as to the first one', async () => {
      const { post } = await buildTestApp()
      const { trace_id: _, ...start } = FULL
      const first = await post('/call/start', { start })
      const second = await post('/call/start', { start })
      expect(second.body).toEqual(first.body)
      expect(second.status).toBe(200)
    })

    it('accepts null for every optional field', async () => {
      const { post } = await buildTestApp()
      const { project_id, op_name, started_at, attributes, inputs, ...optional } = FULL
      const nulls = Object.fromEntries(
        [...Object.keys(optional), 'otel_dump', 'svc_user_id'].map((field) => [field, null]),
      )
      const { status } = await post('/call/start', { start: { ...STARTED, ...nulls } })
      expect(status).toBe(200)
    })

    it('lets the same id live in two projects', async () => {
      const { post } = await buildTestApp()
      await post('/call/start', { start: FULL })
      const other = { ...FULL, project_id: 'acme/other', op_name: 'else' }
      expect((await post('/call/start', { start: other })).status).toBe(200)
    })
  })

  describe('401, 403, 400, 405, 415', () => {
    itRefusesBadRequests({ url: '/call/start', body: { start: STARTED }, scope: 'traces:write' })

    it('responds with project_forbidden for a project outside of the key and stores nothing', async () => {
      const { post, createKey } = await buildTestApp()
      const key = await createKey({ projects: ['acme/other', 'beta/*'] })
      const { status, body } = await post('/call/start', { start: FULL }, { key })
      expect([status, body.error]).toMatchObject([
        403,
        { code: 'project_forbidden', param: 'start.project_id' },
      ])
      const read = await post('/call/read', { project_id: 'acme/demo', id: 'call-1' })
      expect(read.status).toBe(404)
    })
  })

  describe('409', () => {
    it.each([
      ['op_name', 'other'],
      ['inputs', { question: 'how' }],
      ['attributes', { a: 2 }],
      ['parent_id', null],
      ['started_at', '2026-01-02T03:04:05.123457Z'],
      ['trace_id', 'trace-2'],
      ['svc_run_step', 8],
    ])('responds with call_conflict for the same id with another %s', async (field, value) => {
      const { post } = await buildTestApp()
      await post('/call/start', { start: FULL })
      const { status, body } = await post('/call/start', { start: { ...FULL, [field]: value } })
      expect([status, body.error.code, body.error.param]).toEqual([
        409,
        'call_conflict',
        'start.id',
      ])
    })
  })

  describe('413', () => {
    it('responds with request_too_large above the body limit', async () => {
      const { post } = await buildTestApp({ bodyBytesMax: 2048 })
      const start = { ...FULL, inputs: { text: 'x'.repeat(4096) } }
      const { status, body } = await post('/call/start', { start })
      expect([status, body.error.code]).toEqual([413, 'request_too_large'])
    })
  })

  describe('422', () => {
    const rows: [string, unknown][] = [
      ['project_id', undefined],
      ['project_id', null],
      ['project_id', 1],
      ['project_id', 'noslash'],
      ['project_id', 'a/b/c'],
      ['project_id', '/b'],
      ['op_name', undefined],
      ['op_name', null],
      ['op_name', ''],
      ['op_name', 'x'.repeat(1025)],
      ['started_at', undefined],
      ['started_at', null],
      ['started_at', 1767323045],
      ['started_at', 'yesterday'],
      ['started_at', '2026-02-30T00:00:00Z'],
      ['started_at', '3026-01-01T00:00:00Z'],
      ['attributes', undefined],
      ['attributes', null],
      ['attributes', []],
      ['inputs', undefined],
      ['inputs', 'text'],
      ['id', ''],
      ['id', 5],
      ['id', 'x'.repeat(129)],
      ['id', 'line\nbreak'],
      ['display_name', 5],
      ['trace_id', ''],
      ['parent_id', {}],
      ['thread_id', 'x'.repeat(129)],
      ['turn_id', true],
      ['otel_dump', 'span'],
      ['svc_user_id', 5],
      ['svc_run_id', 5],
      ['svc_run_step', '7'],
      ['svc_run_step', 1.5],
      ['nonsense', 1],
    ]
    it.each(rows)(
      'responds with validation_failed for start.%s = %j and stores nothing',
      async (field, value) => {
        const { post } = await buildTestApp()
        const start = { ...FULL, [field]: value }
        const { status, body } = await post('/call/start', { start })
        expect([status, body.error.code, body.error.param]).toEqual([
          422,
          'validation_failed',
          `start.${field}`,
        ])
        const read = await post('/call/read', { project_id: 'acme/demo', id: 'call-1' })
        expect(read.status).toBe(404)
      },
    )

    it('names §4.6 start when it is missing, and an unknown neighbour', async () => {
      const { post } = await buildTestApp()
      expect((await post('/call/start', {})).body.error.param).toBe('start')
      const { body } = await post('/call/start', { start: FULL, extra: 1 })
      expect(body.error.param).toBe('extra')
    })

    it('responds with validation_failed for an empty body and for a body that is no object', async () => {
      const { post } = await buildTestApp()
      for (const text of ['null', '[]', '5']) {
        expect((await post('/call/start', text)).body.error.code).toBe('validation_failed')
      }
    })

    it('reports at most 10 problems', async () => {
      const { post } = await buildTestApp()
      const start = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`field_${at}`, 1]))
      const { body } = await post('/call/start', { start })
      expect(body.error.message.split(';')).toHaveLength(10)
    })
  })
})
