import { describe, expect, it } from 'vitest'
import { itRefusesBadRequests } from '../support/bad-requests.ts'
import { buildTestApp, type TestApp } from '../support/build-test-app.ts'
import { ENDED, STARTED } from './call-fixtures.ts'

const READ = { project_id: 'acme/demo', id: 'call-1' }

const FULL_START = {
  ...STARTED,
  id: 'call-1',
  display_name: 'Shown',
  trace_id: 'trace-1',
  parent_id: 'parent-1',
  thread_id: 'thread-1',
  turn_id: 'turn-1',
  attributes: { a: 1 },
  svc_run_id: 'run-1',
  svc_run_step: 7,
}
const FULL_END = {
  ...ENDED,
  output: { text: 'é' },
  exception: 'ValueError: no',
  summary: { n: 1 },
  svc_run_step_end: 8,
}
const FULL_CALL: Record<string, unknown> = {
  id: 'call-1',
  project_id: 'acme/demo',
  op_name: 'predict',
  display_name: 'Shown',
  trace_id: 'trace-1',
  parent_id: 'parent-1',
  thread_id: 'thread-1',
  turn_id: 'turn-1',
  started_at: STARTED.started_at,
  ended_at: ENDED.ended_at,
  exception: 'ValueError: no',
  attributes: { a: 1 },
  inputs: STARTED.inputs,
  output: { text: 'é' },
  summary: { n: 1, weave: { status: 'error', latency_ms: 1876, display_name: 'Shown' } },
  svc_user_id: 'u-1',
  svc_username: 'User One',
  svc_run_id: 'run-1',
  svc_run_step: 7,
  svc_run_step_end: 8,
  deleted_at: null,
  storage_size_bytes: '{"a":1}{"question":"why"}{"text":"é"}{"n":1}'.length + 1,
  total_storage_size_bytes: '{"a":1}{"question":"why"}{"text":"é"}{"n":1}'.length + 1,
}

async function record({ post }: TestApp, start: object, end?: object): Promise<void> {
  expect((await post('/call/start', { start })).status).toBe(200)
  if (end) expect((await post('/call/end', { end })).status).toBe(200)
}

describe('POST /call/read', () => {
  describe('200', () => {
    it.each(Object.keys(FULL_CALL))('returns §2.5 %s', async (field) => {
      const test = await buildTestApp()
      await record(test, FULL_START, FULL_END)
      const { status, body } = await test.post('/call/read', {
        ...READ,
        include_storage_size: true,
        include_total_storage_size: true,
      })
      expect(status).toBe(200)
      expect(body.call[field]).toEqual(FULL_CALL[field])
      expect(Object.keys(body.call).sort()).toEqual(
        [...Object.keys(FULL_CALL), 'end_user_id'].sort(),
      )
    })

    it('responds with null for everything that was not sent, and §4.5 call as its only key', async () => {
      const test = await buildTestApp()
      await record(test, { ...STARTED, id: 'call-1' })
      const { body } = await test.post('/call/read', READ)
      expect(Object.keys(body)).toEqual(['call'])
      expect(body.call).toMatchObject({
        display_name: null,
        parent_id: null,
        ended_at: null,
        exception: null,
        output: null,
        summary: { weave: { status: 'running', trace_name: 'predict' } },
        svc_run_step: null,
        storage_size_bytes: null,
        total_storage_size_bytes: null,
      })
    })

    it.each([
      ['running', undefined],
      ['success', {}],
      ['error', { exception: '' }],
      ['descendant_error', { summary: { status_counts: { error: 1, success: 3 } } }],
      ['error', { exception: 'x', summary: { status_counts: { error: 1 } } }],
    ])('derives the status %s from the end %j', async (status, end) => {
      const test = await buildTestApp()
      await record(test, { ...STARTED, id: 'call-1' }, end && { ...ENDED, ...end })
      const { body } = await test.post('/call/read', READ)
      expect(body.call.summary.weave.status).toBe(status)
    })

    it('names the trace after the op of an op ref', async () => {
      const test = await buildTestApp()
      const op_name = 'weave:///acme/demo/op/answer:abc123'
      await record(test, { ...STARTED, id: 'call-1', op_name })
      const { body } = await test.post('/call/read', READ)
      expect(body.call.summary.weave.trace_name).toBe('answer')
    })

    it('never reports a latency below 0', async () => {
      const test = await buildTestApp()
      await record(
        test,
        { ...STARTED, id: 'call-1' },
        { ...ENDED, ended_at: '2020-01-01T00:00:00Z' },
      )
      const { body } = await test.post('/call/read', READ)
      expect(body.call.summary.weave.latency_ms).toBe(0)
    })

    it('fills only the sizes that are asked for: §4.5 include_storage_size', async () => {
      const test = await buildTestApp()
      await record(test, FULL_START, FULL_END)
      const { body } = await test.post('/call/read', { ...READ, include_storage_size: true })
      expect(body.call.storage_size_bytes).toBe(FULL_CALL.storage_size_bytes)
      expect(body.call.total_storage_size_bytes).toBeNull()
    })

    it('sums the trace: §4.5 include_total_storage_size', async () => {
      const test = await buildTestApp()
      await record(test, FULL_START, FULL_END)
      await record(test, { ...FULL_START, id: 'call-2' })
      await record(test, { ...FULL_START, id: 'call-3', trace_id: 'trace-2' })
      const { body } = await test.post('/call/read', { ...READ, include_total_storage_size: true })
      const second = '{"a":1}{"question":"why"}'.length
      expect(body.call.total_storage_size_bytes).toBe(Number(FULL_CALL.storage_size_bytes) + second)
    })

    it('reads by §4.5 project_id and §4.5 id, trailing slash or not', async () => {
      const test = await buildTestApp()
      await record(test, FULL_START)
      expect((await test.post('/call/read/', READ)).body.call.id).toBe('call-1')
    })
  })

  describe('401, 403, 400, 405, 415', () => {
    itRefusesBadRequests({ url: '/call/read', body: READ, scope: 'traces:read' })

    it('responds with project_forbidden for a project outside of the key', async () => {
      const test = await buildTestApp()
      await record(test, FULL_START)
      const key = await test.createKey({ projects: ['beta/*'] })
      const { status, body } = await test.post('/call/read', READ, { key })
      expect([status, body.error.code]).toEqual([403, 'project_forbidden'])
    })
  })

  describe('404', () => {
    it.each([
      ['an unknown id', { ...READ, id: 'call-2' }],
      ['an id of another project', { ...READ, project_id: 'acme/other' }],
    ])('responds with call_not_found for %s', async (_, request) => {
      const test = await buildTestApp()
      await record(test, FULL_START)
      const { status, body } = await test.post('/call/read', request)
      expect([status, body.error.code, body.error.param]).toEqual([404, 'call_not_found', 'id'])
    })
  })

  describe('422', () => {
    it.each([
      ['project_id', undefined],
      ['project_id', null],
      ['project_id', 'noslash'],
      ['id', undefined],
      ['id', 7],
      ['id', ''],
      ['include_costs', 'yes'],
      ['include_storage_size', 1],
      ['include_total_storage_size', 'true'],
      ['include_everything', true],
    ])('responds with validation_failed for %s = %j', async (field, value) => {
      const { post } = await buildTestApp()
      const { status, body } = await post('/call/read', { ...READ, [field]: value })
      expect([status, body.error.code, body.error.param]).toEqual([422, 'validation_failed', field])
    })
  })
})
