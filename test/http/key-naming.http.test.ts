import { describe, expect, it } from 'vitest'
import { STARTED } from '../calls/call-fixtures.ts'
import { buildTestApp } from '../support/build-test-app.ts'

const READ = { project_id: 'acme/demo', id: 'call-1' }
const PAYLOAD = {
  wb_user_id: 'mine',
  svc_run_id: 'mine',
  deep: [{ wb_username: 1, svc_username: 2 }],
}
const VENDOR_START = {
  start: {
    ...STARTED,
    id: 'call-1',
    wb_user_id: 'ignored',
    wb_run_id: 'run-1',
    wb_run_step: 3,
    inputs: PAYLOAD,
    attributes: PAYLOAD,
    otel_dump: PAYLOAD,
  },
}

describe('the two namings of fields', () => {
  it('read back a call of the vendor names in either', async () => {
    const { post } = await buildTestApp()
    expect((await post('/traces/call/start', VENDOR_START)).status).toBe(200)
    const neutral = (await post('/call/read', READ)).body.call
    const vendor = (await post('/traces/call/read', READ)).body.call
    expect(neutral).toMatchObject({ svc_user_id: 'u-1', svc_username: 'User One' })
    expect(neutral).toMatchObject({ svc_run_id: 'run-1', svc_run_step: 3, svc_run_step_end: null })
    expect(Object.keys(neutral).filter((key) => key.startsWith('wb_'))).toEqual([])
    expect(vendor).toMatchObject({ wb_user_id: 'u-1', wb_username: 'User One' })
    expect(vendor).toMatchObject({ wb_run_id: 'run-1', wb_run_step: 3, wb_run_step_end: null })
    expect(Object.keys(vendor).filter((key) => key.startsWith('svc_'))).toEqual([])
  })

  it.each(['/call/read', '/traces/call/read'])(
    'leave what users traced alone on %s',
    async (url) => {
      const { post } = await buildTestApp()
      await post('/traces/call/start', VENDOR_START)
      const end = { ...READ, ended_at: STARTED.started_at, output: PAYLOAD, summary: PAYLOAD }
      expect((await post('/traces/call/end', { end })).status).toBe(200)
      const { call } = (await post(url, READ)).body
      expect(call.inputs).toEqual(PAYLOAD)
      expect(call.output).toEqual(PAYLOAD)
      expect(call.summary).toMatchObject(PAYLOAD)
      expect(call.attributes).toEqual({ ...PAYLOAD, otel_span: PAYLOAD })
    },
  )

  it('refuse the vendor names at the root', async () => {
    const { post } = await buildTestApp()
    const { status, body } = await post('/call/start', VENDOR_START)
    expect([status, body.error.code]).toEqual([422, 'validation_failed'])
    expect(body.error.param).toMatch(/^start\.wb_/)
    expect((await post('/call/read', READ)).body.error.code).toBe('call_not_found')
  })

  it('name a field at fault as the client wrote it', async () => {
    const { post } = await buildTestApp()
    const start = { ...VENDOR_START.start, wb_run_step: 'x' }
    const { status, body } = await post('/traces/call/start', { start, more: 1 })
    expect([status, body.error.param]).toEqual([422, 'start.wb_run_step'])
  })

  it.each([
    ['/calls/stream_query', 'svc_user_id'],
    ['/traces/calls/stream_query', 'wb_user_id'],
  ])('list the fields of queries on %s as %s', async (url, name) => {
    const { post } = await buildTestApp()
    const query = { $expr: { $eq: [{ $getField: 'nothing' }, { $literal: 1 }] } }
    const { status, body } = await post(url, { project_id: 'acme/demo', query })
    expect([status, body.error.code]).toEqual([422, 'query_invalid'])
    expect(body.error.message.match(/(?:svc|wb)_user_id/g)).toEqual([name])
  })

  it('take names that are not known below /traces only', async () => {
    const { post } = await buildTestApp()
    const body = { start: { ...STARTED, id: 'call-1', fresh: { a: 1 } }, also: 1 }
    expect((await post('/call/start', body)).status).toBe(422)
    expect((await post('/traces/call/start', body)).status).toBe(200)
  })

  it('keep the digits of long numbers in names that are not known and in payloads', async () => {
    const { post } = await buildTestApp()
    const text = JSON.stringify(VENDOR_START).replace(
      '"deep"',
      '"long":12345678901234567890,"deep"',
    )
    const sent = text.replace('"wb_run_step"', '"x":{"y":12345678901234567890},"wb_run_step"')
    expect((await post('/traces/call/start', sent)).status).toBe(200)
    expect((await post('/traces/call/read', READ)).text).toContain('12345678901234567890')
  })

  it.each(['-0.0', '12345678901234567890'])(
    'refuse %s, whose digits are exact, where an object must be',
    async (number) => {
      const { post } = await buildTestApp()
      const exact = JSON.rawJSON(number)
      const { project_id } = STARTED
      const feedback = { project_id, weave_ref: `weave:///${project_id}/object/x:v0` }
      const cases: [string, object, string][] = [
        ['/call/start', { start: { ...STARTED, inputs: exact } }, 'start.inputs'],
        ['/feedback/create', { ...feedback, feedback_type: 'f', payload: exact }, 'payload'],
        ['/call/start', exact, 'start'],
      ]
      for (const [url, body, param] of cases) {
        for (const root of ['', '/traces']) {
          const response = await post(root + url, body)
          const refused = [response.status, response.body.error?.param]
          expect([root + url, ...refused]).toEqual([root + url, 422, param])
        }
      }
      const batch = [{ mode: 'start', req: exact }]
      const { status } = await post('/traces/call/upsert_batch', { batch })
      expect(status).toBe(200)
    },
  )

  it('ask for credentials and the project below /traces as at the root', async () => {
    const { post, createKey } = await buildTestApp()
    const foreign = await createKey({ projects: ['beta/*'] })
    expect((await post('/traces/call/read', READ, { key: null })).status).toBe(401)
    expect((await post('/traces/call/read', READ, { key: foreign })).status).toBe(403)
  })

  it('show the routes once in the OpenAPI document', async () => {
    const { get } = await buildTestApp()
    const { body } = await get('/openapi.json')
    expect(Object.keys(body.paths).filter((path) => path.startsWith('/traces'))).toEqual([])
    expect(body.info.description).toContain('/traces')
  })
})
