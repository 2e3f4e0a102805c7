import { describe, expect, it } from 'vitest'
import { itRefusesBadRequests } from '../support/bad-requests.ts'
import { buildTestApp } from '../support/build-test-app.ts'
import { ENDED, STARTED } from './call-fixtures.ts'

const START = { start: { ...STARTED, id: 'call-1' } }
const END = {
  end: {
    ...ENDED,
    output: { answer: [1, null, 'x'] },
    exception: null,
    summary: { usage: { 'gpt-4o': { prompt_tokens: 3, completion_tokens: 4 } }, mine: 1 },
    svc_run_step_end: 9,
  },
}
const READ = { project_id: 'acme/demo', id: 'call-1' }

describe('POST /call/end', () => {
  describe('200', () => {
    it('gives the call its end, whichever part comes first', async () => {
      const responses = []
      for (const order of [
        ['start', 'end'],
        ['end', 'start'],
        ['end', 'start', 'end', 'start'],
      ]) {
        const { post } = await buildTestApp()
        for (const part of order) {
          const { status } = await post(`/call/${part}`, part === 'start' ? START : END)
          expect(status).toBe(200)
        }
        const { body } = await post('/call/read', { ...READ, include_storage_size: true })
        responses.push({ ...body.call, trace_id: 'any' })
      }
      expect(responses[1]).toEqual(responses[0])
      expect(responses[2]).toEqual(responses[0])
      expect(responses[0]).toMatchObject({
        ended_at: ENDED.ended_at,
        output: END.end.output,
        exception: null,
        svc_run_step_end: 9,
        summary: { mine: 1, weave: { status: 'success', latency_ms: 1876 } },
      })
    })

    it('keeps an end invisible until its start comes', async () => {
      const { post } = await buildTestApp()
      await post('/call/end', END)
      expect((await post('/call/read', READ)).body.error.code).toBe('call_not_found')
    })

    it('stores a null output when none is sent', async () => {
      const { post } = await buildTestApp()
      await post('/call/start', START)
      await post('/call/end', { end: ENDED })
      const { body } = await post('/call/read', READ)
      expect(body.call).toMatchObject({ output: null, summary: { weave: { status: 'success' } } })
    })
  })

  describe('401, 403, 400, 405, 415', () => {
    itRefusesBadRequests({ url: '/call/end', body: END, scope: 'traces:write' })

    it('responds with project_forbidden for a project outside of the key and stores nothing', async () => {
      const { post, createKey } = await buildTestApp()
      await post('/call/start', START)
      const key = await createKey({ projects: ['beta/*'] })
      const { status, body } = await post('/call/end', END, { key })
      expect([status, body.error]).toMatchObject([
        403,
        { code: 'project_forbidden', param: 'end.project_id' },
      ])
      expect((await post('/call/read', READ)).body.call.ended_at).toBeNull()
    })
  })

  describe('409', () => {
    it.each([
      ['ended_at', '2026-01-02T03:04:07Z'],
      ['output', 1],
      ['exception', 'Error'],
      ['summary', {}],
    ])('responds with call_conflict for another %s and keeps the first', async (field, value) => {
      const { post } = await buildTestApp()
      await post('/call/start', START)
      await post('/call/end', END)
      const { status, body } = await post('/call/end', { end: { ...END.end, [field]: value } })
      expect([status, body.error.code, body.error.param]).toEqual([409, 'call_conflict', 'end.id'])
      expect((await post('/call/read', READ)).body.call.output).toEqual(END.end.output)
    })
  })

  describe('422', () => {
    const rows: [string, unknown][] = [
      ['project_id', undefined],
      ['project_id', 'noslash'],
      ['id', undefined],
      ['id', null],
      ['id', 5],
      ['ended_at', undefined],
      ['ended_at', null],
      ['ended_at', 'soon'],
      ['exception', 5],
      ['summary', 'text'],
      ['summary', []],
      ['svc_run_step_end', 'x'],
      ['display_name', 'unknown here'],
    ]
    it.each(rows)('responds with validation_failed for end.%s = %j', async (field, value) => {
      const { post } = await buildTestApp()
      await post('/call/start', START)
      const { status, body } = await post('/call/end', { end: { ...END.end, [field]: value } })
      expect([status, body.error.code, body.error.param]).toEqual([
        422,
        'validation_failed',
        `end.${field}`,
      ])
      expect((await post('/call/read', READ)).body.call.ended_at).toBeNull()
    })

    it('refuses usage of more than 100 models', async () => {
      const { post } = await buildTestApp()
      const usage = Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`m${at}`, {}]))
      const { status, body } = await post('/call/end', { end: { ...ENDED, summary: { usage } } })
      expect([status, body.error.param]).toEqual([422, 'end.summary.usage'])
    })
  })
})
